import { describe, expect, test } from 'vitest';
import { execDialect } from '../../src/protocol/dialects.js';
import {
  binaryMessage,
  frameText,
  isBinaryFrame,
  MAX_HEADER_BYTES,
  readFrame,
} from '../../src/rpc/binary-frame.js';
import { parseFrame } from '../../src/rpc/message.js';

const HEADER = '{"method":"process/output","params":{"processId":"ü","seq":7},"bytes":"chunk"}';
const BYTES = Uint8Array.of(0, 1, 0xff, 0x7b);

function frame(header: string, bytes = BYTES): Uint8Array {
  return binaryMessage(header, bytes).joined();
}

/** A frame whose preamble claims a header of another length. */
function claiming(length: number): Uint8Array {
  const whole = frame(HEADER);
  whole.set([(length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff], 1);
  return whole;
}

describe('a binary frame', () => {
  test('is version, length of the header, header, bytes', () => {
    const whole = frame('{}', BYTES);
    expect([...whole]).toEqual([1, 0, 0, 2, 0x7b, 0x7d, ...BYTES]);
    expect(isBinaryFrame(whole)).toBe(true);
    expect(isBinaryFrame(new TextEncoder().encode(HEADER))).toBe(false);
    expect(readFrame(whole)).toEqual({ header: '{}', bytes: BYTES });
  });

  test('may hold no bytes, and header bytes beyond ASCII', () => {
    expect(readFrame(frame(HEADER, new Uint8Array(0)))).toEqual({ header: HEADER, bytes: new Uint8Array(0) });
  });

  test('has the same message as text', () => {
    expect(JSON.parse(frameText(frame(HEADER)))).toEqual({
      method: 'process/output',
      params: { processId: 'ü', seq: 7, chunk: Buffer.from(BYTES).toString('base64') },
    });
    expect(JSON.parse(frameText(frame('{"id":1,"result":{"eof":true},"bytes":"chunk"}')))).toEqual({
      id: 1,
      result: { eof: true, chunk: Buffer.from(BYTES).toString('base64') },
    });
  });

  test('a few bytes do not keep all that was read with them in memory', () => {
    const read = new Uint8Array(65_536);
    const whole = frame(HEADER);
    read.set(whole, 1000);
    const { bytes } = readFrame(read.subarray(1000, 1000 + whole.length));
    expect(bytes).toEqual(BYTES);
    expect(bytes.buffer.byteLength).toBe(BYTES.length);
    const large = frame(HEADER, new Uint8Array(60_000));
    expect(readFrame(large).bytes.buffer).toBe(large.buffer);
  });

  test.each([
    ['a preamble cut short', Uint8Array.of(1, 0, 0)],
    ['a header longer than the frame', claiming(5000)],
    ['a header longer than allowed', frame(JSON.stringify('x'.repeat(MAX_HEADER_BYTES)))],
    ['a header that is not UTF-8', claiming(HEADER.length + 4)],
    ['a header that ends early', claiming(20)],
    ['no header', claiming(0)],
    ['a header that is no object', frame('[]')],
    ['no name for the bytes', frame('{"method":"m","params":{}}')],
    ['a name that is no text', frame('{"method":"m","params":{},"bytes":7}')],
    ['no params to put them into', frame('{"method":"m","bytes":"chunk"}')],
    ['params that are a list', frame('{"method":"m","params":null,"bytes":"chunk"}')],
    ['a member that is there already', frame('{"method":"m","params":{"chunk":""},"bytes":"chunk"}')],
    ['an error', frame('{"id":1,"error":{"code":1,"message":""},"bytes":"data"}')],
    ['a member twice', frame('{"method":"m","method":"m","params":{},"bytes":"chunk"}')],
  ])('with %s is refused', (_what, data) => {
    expect(() => parseFrame(data, execDialect)).toThrow(expect.objectContaining({ code: 'invalidMessage' }));
  });

  test('as a message has its bytes beside it and an empty text in their place', () => {
    expect(parseFrame(frame(HEADER), execDialect)).toEqual({
      kind: 'notification',
      method: 'process/output',
      params: { processId: 'ü', seq: 7, chunk: '' },
      attached: { field: 'chunk', bytes: BYTES },
    });
    expect(parseFrame(frame('{"id":"a","result":{},"bytes":"dataBase64"}'), execDialect)).toEqual({
      kind: 'result',
      id: '"a"',
      result: { dataBase64: '' },
      attached: { field: 'dataBase64', bytes: BYTES },
    });
  });
});
