import { ExecError } from './errors.js';

/*
 * Paths travel as `file:` URIs and are bytes on the machine. Nothing here requires Node, so that clients in a browser
 * can use it. Windows paths are not supported: drive letters and hosts are refused.
 */

const SLASH = 0x2f;
const PERCENT = 0x25;
const DOT = 0x2e;

/** Bytes that must be escaped in a URI path, in addition to controls, space and everything above ASCII. */
const ESCAPED = new Set(Array.from('"#%<>?\\`{}', (character) => character.charCodeAt(0)));

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** True for text that is a URI rather than a path. */
export function isFileUri(text: string): boolean {
  return /^\s*file:/i.test(text);
}

/** Normalised paths without anything to escape: nearly all. */
const PLAIN_PATH = /^(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9._~!$&'()*+,;=@-]+)+$/;
const SCHEME = 'file://';

/** The absolute path named by a `file:` URI, as bytes, without `.`, `..`, double and trailing slashes. */
export function parseFileUri(text: string): Uint8Array {
  if (text.startsWith(SCHEME)) {
    const path = text.slice(SCHEME.length);
    if (PLAIN_PATH.test(path)) return encoder.encode(path);
  }
  const url = parseUrl(text);
  if (url.protocol !== 'file:') throw invalid('The path is not a `file:` URI.');
  if (url.href.includes('?')) throw invalid('A path URI cannot have a query.');
  if (url.href.includes('#')) throw invalid('A path URI cannot have a fragment.');
  if (url.hostname !== '') throw foreign('The path URI names another host.');
  if (/^\/[A-Za-z]:(\/|$)/.test(url.pathname)) throw foreign('The path URI names a drive.');
  return normalized(percentDecoded(url.pathname));
}

/** The bytes of an absolute path, given as a path or as a `file:` URI. */
export function pathBytes(path: string): Uint8Array {
  if (isFileUri(path)) return parseFileUri(path);
  if (!path.startsWith('/')) throw foreign('The path is not absolute.');
  return normalized(encoder.encode(path));
}

/** The `file:` URI of an absolute path. */
export function fileUri(path: string | Uint8Array): string {
  if (typeof path === 'string' && PLAIN_PATH.test(path)) return `file://${path}`;
  const bytes = typeof path === 'string' ? pathBytes(path) : path;
  let uri = 'file://';
  for (const byte of bytes) uri += mustEscape(byte) ? escaped(byte) : String.fromCharCode(byte);
  // A first segment such as `C:` would be read as a drive letter.
  return uri.replace(/^(file:\/\/\/[A-Za-z])([:|])(?=\/|$)/, (_, start: string, mark: string) =>
    start.concat(escaped(mark.charCodeAt(0))),
  );
}

/** The path as text, or as a `file:` URI if its bytes are not UTF-8. Either can be passed back in. */
export function pathText(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return fileUri(bytes);
  }
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw invalid('The path is not a valid URI.');
  }
}

function percentDecoded(pathname: string): Uint8Array {
  const source = encoder.encode(pathname);
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let at = 0; at < source.length; at++) {
    const pair = source[at] === PERCENT ? pathname.slice(at + 1, at + 3) : '';
    const isEscape = /^[0-9A-Fa-f]{2}$/.test(pair);
    bytes[length++] = isEscape ? Number.parseInt(pair, 16) : (source[at] ?? 0);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}

/** Resolves dots lexically, as URI parsing does, so that a path means the same locally and over the wire. */
function normalized(bytes: Uint8Array): Uint8Array {
  if (bytes.includes(0)) throw invalid('The path contains a NUL byte.');
  const segments: Uint8Array[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const slash = bytes.indexOf(SLASH, from);
    const segment = bytes.subarray(from, slash < 0 ? bytes.length : slash);
    if (isDots(segment, 2)) segments.pop();
    else if (segment.length > 0 && !isDots(segment, 1)) segments.push(segment);
    if (slash < 0) break;
    from = slash + 1;
  }
  return joined(segments);
}

function isDots(segment: Uint8Array, count: number): boolean {
  return segment.length === count && segment.every((byte) => byte === DOT);
}

function joined(segments: readonly Uint8Array[]): Uint8Array {
  if (segments.length === 0) return Uint8Array.of(SLASH);
  const path = new Uint8Array(segments.reduce((sum, segment) => sum + 1 + segment.length, 0));
  let at = 0;
  for (const segment of segments) {
    path[at] = SLASH;
    path.set(segment, at + 1);
    at += 1 + segment.length;
  }
  return path;
}

function mustEscape(byte: number): boolean {
  return byte <= 0x20 || byte >= 0x7f || ESCAPED.has(byte);
}

function escaped(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

function invalid(message: string): ExecError {
  return new ExecError('invalidParams', message);
}

function foreign(message: string): ExecError {
  return new ExecError('invalidPath', message);
}
