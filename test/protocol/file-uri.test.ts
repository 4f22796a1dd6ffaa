import { describe, expect, test } from 'vitest';
import { fileUri, isExecError, parseFileUri, pathBytes, pathText } from '../../src/protocol/index.js';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return isExecError(error) ? error.code : 'not ours';
  }
  return 'accepted';
}

describe('file URIs', () => {
  test('every byte but slash and NUL survives the way out and back', () => {
    for (let value = 1; value < 256; value++) {
      if (value === 0x2f) continue;
      const path = Buffer.concat([Buffer.from('/d/x'), Buffer.of(value), Buffer.from('y')]);
      expect(Buffer.from(parseFileUri(fileUri(path)))).toEqual(path);
      expect(Buffer.from(pathBytes(pathText(path)))).toEqual(path);
    }
  });

  test('what may stand in a path is left as it is', () => {
    const name = 'a b#?%[]{}|^`"<>é~!$&\'()*+,;=:@\\';
    const escaped = "a%20b%23%3F%25[]%7B%7D|^%60%22%3C%3E%C3%A9~!$&'()*+,;=:@%5C";
    expect(fileUri(`/t/${name}`)).toBe(`file:///t/${escaped}`);
  });

  test('a name that looks like a drive comes back as a name', () => {
    for (const path of ['/C:', '/c:/x', '/C|/x', '/d/C:/x']) {
      expect(text(parseFileUri(fileUri(path)))).toBe(path);
      expect(text(parseFileUri(fileUri(Buffer.from(path))))).toBe(path);
    }
  });

  test('dots are resolved by name, for paths and URIs alike', () => {
    for (const [path, expected] of Object.entries({
      '/': '/',
      '/..': '/',
      '/a/./b//c/': '/a/b/c',
      '/a/../../b': '/b',
      '/a/...': '/a/...',
    })) {
      expect(text(pathBytes(path))).toBe(expected);
      expect(text(pathBytes(`file://${path}`))).toBe(expected);
    }
  });

  test('percent signs that escape nothing are themselves', () => {
    expect(text(parseFileUri('file:///%zz/%4/%'))).toBe('/%zz/%4/%');
    expect(text(parseFileUri('file:///%252F'))).toBe('/%2F');
  });

  test('text is shown as text, other bytes as a URI', () => {
    expect(pathText(Buffer.from('/ä b'))).toBe('/ä b');
    expect(pathText(Buffer.from([0x2f, 0xff]))).toBe('file:///%FF');
    expect(pathText(Buffer.from('/\ufeffx'))).toBe('/\ufeffx');
  });

  test('what is no path on this machine is refused by kind', () => {
    expect(refusal(() => parseFileUri('/plain'))).toBe('invalidParams');
    expect(refusal(() => parseFileUri('file:///a%00'))).toBe('invalidParams');
    expect(refusal(() => pathBytes('/a\0'))).toBe('invalidParams');
    expect(refusal(() => pathBytes('relative'))).toBe('invalidPath');
    expect(refusal(() => parseFileUri('file://host/a'))).toBe('invalidPath');
  });
});
