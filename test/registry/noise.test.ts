import { beforeAll, describe, expect, test } from 'vitest';
import { Initiator, type Meeting, Responder } from '../../src/registry/noise/handshake.js';
import { generateKeyPair, type KeyPair } from '../../src/registry/noise/key-pair.js';
import { loadMlKem, type MlKem } from '../../src/registry/noise/ml-kem.js';
import { MAX_RECORD_BYTES, MessageReader, recordsOf } from '../../src/registry/noise/records.js';
import { ReorderWindow } from '../../src/registry/noise/reorder-window.js';

const meeting: Meeting = { environmentId: 'a', registrationId: 'r-1', streamId: 's-1' };
const authorization = Buffer.from('let me in');

let kem: MlKem;
let machine: KeyPair;
let client: KeyPair;
beforeAll(async () => {
  kem = await loadMlKem();
  [machine, client] = [generateKeyPair(kem), generateKeyPair(kem)];
});

function initiate(change: Partial<Meeting> = {}): Initiator {
  return new Initiator({ kem, own: client, meeting: { ...meeting, ...change } }, machine.public);
}

function respond(hello: Uint8Array, own = machine): Responder {
  return new Responder({ kem, own, meeting }, hello);
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe('the handshake', () => {
  test('both sides know each other and can talk, in messages of the sizes that Codex expects', () => {
    const initiator = initiate();
    const hello = initiator.hello(authorization);
    expect(hello.length).toBe(3568 + authorization.length);
    expect(hello.includes(authorization)).toBe(false);
    const responder = respond(hello);
    expect(Buffer.from(responder.payload)).toEqual(authorization);
    expect(Buffer.from(responder.other.x25519)).toEqual(Buffer.from(client.public.x25519));
    expect(Buffer.from(responder.other.mlkem)).toEqual(Buffer.from(client.public.mlkem));
    const { message, ciphers } = responder.answer();
    expect(message.length).toBe(3424);
    const own = initiator.finish(message);
    for (const text of ['one', 'two']) {
      expect(ciphers.receive.decrypt(own.send.encrypt(Buffer.from(text))).toString()).toBe(text);
      expect(own.receive.decrypt(ciphers.send.encrypt(Buffer.from(text))).toString()).toBe(text);
    }
  });

  test.each([{ environmentId: 'b' }, { registrationId: 'r-2' }, { streamId: 's-2' }])(
    'a hello for %o is refused',
    (change) => {
      const hello = initiate(change).hello(authorization);
      expect(() => respond(hello)).toThrow();
    },
  );

  test('a hello for another machine is refused', () => {
    const hello = initiate().hello(authorization);
    expect(() => respond(hello, generateKeyPair(kem))).toThrow();
  });

  test('a hello that was changed anywhere is refused', () => {
    const hello = initiate().hello(authorization);
    for (const at of [0, 1087, 1088, 1120, 2303, 2304, 2352, 3551, 3560, hello.length - 1])
      expect(() => respond(flipped(hello, at)), `byte ${at}`).toThrow();
    for (const length of [0, 1, 1088, 3000, 3567]) expect(() => respond(hello.subarray(0, length))).toThrow();
    expect(() => respond(Buffer.concat([hello, Buffer.alloc(1)]))).toThrow();
  });

  test('an answer that was changed anywhere is refused', () => {
    for (const at of [0, 1088, 2191, 2192, 2223, 2224, 3407, 3423]) {
      const initiator = initiate();
      const { message } = respond(initiator.hello(authorization)).answer();
      expect(() => initiator.finish(flipped(message, at)), `byte ${at}`).toThrow();
    }
  });

  test('the answer to an earlier hello is refused', () => {
    const earlier = respond(initiate().hello(authorization)).answer().message;
    const initiator = initiate();
    initiator.hello(authorization);
    expect(() => initiator.finish(earlier)).toThrow();
  });

  test('a key that would make the secret known to everybody is refused', () => {
    const zero = { ...machine.public, x25519: new Uint8Array(32) };
    const initiator = new Initiator({ kem, own: client, meeting }, zero);
    expect(() => initiator.hello(authorization)).toThrow();
  });
});

describe('sealed texts', () => {
  test('cannot be changed, repeated, left out or exchanged', () => {
    const initiator = initiate();
    const responder = respond(initiator.hello(authorization));
    const { message, ciphers } = responder.answer();
    const own = initiator.finish(message);
    const [first, second] = [own.send.encrypt(Buffer.from('1')), own.send.encrypt(Buffer.from('2'))];
    expect(ciphers.receive.decrypt(first).toString()).toBe('1');
    expect(() => ciphers.receive.decrypt(first)).toThrow();
    expect(() => ciphers.receive.decrypt(flipped(second, 0))).toThrow();
    expect(() => ciphers.receive.decrypt(new Uint8Array(3))).toThrow();
    // Nor sent back to where it came from.
    expect(() => own.receive.decrypt(own.send.encrypt(Buffer.from('3')))).toThrow();
  });
});

describe('records', () => {
  test.each([1, 4, MAX_RECORD_BYTES - 4, MAX_RECORD_BYTES - 3, MAX_RECORD_BYTES, 1_000_000])(
    'a message of %i bytes survives, however it is cut',
    (size) => {
      const message = Buffer.alloc(size, 'x');
      const records = [...recordsOf(message)];
      expect(Math.max(...records.map(({ length }) => length))).toBeLessThanOrEqual(MAX_RECORD_BYTES);
      const reader = new MessageReader();
      expect(Buffer.concat(records.flatMap((record) => reader.add(record))).equals(message)).toBe(true);
      const stream = Buffer.concat([...records, ...records]);
      const bytewise = new MessageReader();
      const step = Math.max(1, Math.floor(size / 7));
      const found: Buffer[] = [];
      for (let at = 0; at < stream.length; at += step)
        found.push(...bytewise.add(stream.subarray(at, at + step)));
      expect(found.map(({ length }) => length)).toEqual([size, size]);
    },
  );

  test('records may be empty, or a byte long', () => {
    const message = Buffer.from('{"id":1}'.repeat(2_000));
    const stream = Buffer.concat([...recordsOf(message)]);
    const reader = new MessageReader();
    const found = [...stream].flatMap((byte) => [
      ...reader.add(Uint8Array.of(byte)),
      ...reader.add(new Uint8Array()),
    ]);
    expect(found).toEqual([message]);
  });

  test.each([0, 64 * 1024 * 1024 + 1, 0xffff_ffff])('a message of %i bytes is impossible', (length) => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(length);
    expect(() => new MessageReader().add(header)).toThrow('impossible length');
  });
});

describe('the window', () => {
  const payload = (seq: number): Uint8Array => Uint8Array.of(seq);
  const seqs = (ready: readonly Uint8Array[]): number[] => ready.map(([seq = -1]) => seq);

  test('puts things into order and ignores what it had', () => {
    const window = new ReorderWindow();
    expect(seqs(window.add(1, payload(1)))).toEqual([]);
    expect(seqs(window.add(1, payload(9)))).toEqual([]);
    expect(seqs(window.add(0, payload(0)))).toEqual([0, 1]);
    expect(seqs(window.add(0, payload(9)))).toEqual([]);
    for (let seq = 66; seq > 2; seq -= 1) expect(window.add(seq, payload(seq))).toEqual([]);
    expect(seqs(window.add(2, payload(2)))).toEqual(Array.from({ length: 65 }, (_, index) => index + 2));
  });

  test('gives up on what is too far ahead, or too much', () => {
    expect(() => new ReorderWindow().add(65, payload(0))).toThrow('too much is missing');
    const window = new ReorderWindow();
    const large = new Uint8Array(61_456);
    const fill = (): void => {
      for (let seq = 1; seq < 64; seq += 1) window.add(seq, large);
    };
    expect(fill).toThrow('too much is early');
  });

  test('an empty payload is one, too', () => {
    const window = new ReorderWindow();
    expect(window.add(0, new Uint8Array())).toHaveLength(1);
    expect(seqs(window.add(1, payload(1)))).toEqual([1]);
  });
});
