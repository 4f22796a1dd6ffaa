import { describe, expect, test } from 'vitest';
import { execDialect } from '../../src/protocol/dialects.js';
import { parseMessage } from '../../src/rpc/message.js';

const LONG = 'QUJD'.repeat(20_000);
const message = (params: string): string => `{"id":1,"method":"m","params":${params}}`;
const paramsOf = (text: string): unknown => {
  const parsed = parseMessage(text, execDialect);
  return parsed.kind === 'request' ? parsed.params : parsed.kind;
};

describe('a long base64 string in a message', () => {
  test('arrives as it stood, under either name and wherever it stands', () => {
    expect(paramsOf(message(`{"chunk":"${LONG}"}`))).toEqual({ chunk: LONG });
    expect(paramsOf(message(`{"a":1,"dataBase64":"${LONG}","b":[2]}`))).toEqual({
      a: 1,
      dataBase64: LONG,
      b: [2],
    });
    expect(paramsOf(message(`{"deep":{"chunk":"${LONG}"},"chunk":"x"}`))).toEqual({
      deep: { chunk: LONG },
      chunk: 'x',
    });
    expect(paramsOf(message(`{"chunk":"${LONG}","dataBase64":"${LONG}"}`))).toEqual({
      chunk: LONG,
      dataBase64: LONG,
    });
  });

  test('with escapes is read like any other', () => {
    expect(paramsOf(message(`{"chunk":"${LONG}\\n${LONG}"}`))).toEqual({ chunk: `${LONG}\n${LONG}` });
    expect(paramsOf(message(`{"chunk":"${LONG}\\"${LONG}"}`))).toEqual({ chunk: `${LONG}"${LONG}` });
    expect(paramsOf(message(`{"a\\"chunk":"${LONG}"}`))).toEqual({ 'a"chunk': LONG });
  });

  test('does not hide what is wrong around it', () => {
    for (const params of [
      `{"chunk":"${LONG}}`,
      `{"chunk":"${LONG}",}`,
      `{"chunk":"${LONG}","chunk":"${LONG}"}`,
    ])
      expect(() => parseMessage(message(params), execDialect)).toThrow('failed to parse the message');
  });

  test('arrives in results as well', () => {
    const answer = parseMessage(`{"id":1,"result":{"chunk":"${LONG}"}}`, execDialect);
    expect(answer).toEqual({ kind: 'result', id: '1', result: { chunk: LONG } });
  });
});
