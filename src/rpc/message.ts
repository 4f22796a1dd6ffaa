import { ExecError, type ExecError as ExecErrorType, isExecError, rpcNumberOf } from '../protocol/errors.js';
import type { Dialect } from '../protocol/dialects.js';
import { readFrame } from './binary-frame.js';
import { type ParsedJson, parseBulkJson } from './bulk-json.js';
import { inspectJson, type JsonStructure } from './json-structure.js';
import { traceIdOf } from './trace.js';
import type { Attachment } from './with-bytes.js';

/** An id as written in the message, including quotes, so that it is echoed exactly. */
export type RawId = string;

export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type IncomingMessage =
  | {
      readonly kind: 'request';
      readonly id: RawId;
      readonly method: string;
      readonly params: unknown;
      /** The id of the trace it belongs to. */
      readonly trace?: string | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'result'; readonly id: RawId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RawId; readonly error: RpcErrorObject };

/** A message from a binary frame. The member that its bytes replace is present as an empty string. */
export type FramedMessage = Exclude<IncomingMessage, { kind: 'error' }> & { readonly attached: Attachment };

/** The id used to answer a message whose own id could not be read. */
export const UNKNOWN_ID: RawId = '-1';

/** Parses one message. Throws `invalidMessage` for anything else. */
export function parseMessage(text: string, dialect: Dialect): IncomingMessage {
  return classify(parseObject(text, dialect), dialect);
}

/** Parses one binary frame. Throws `invalidMessage` for anything that is not exactly one message with its bytes. */
export function parseFrame(data: Uint8Array, dialect: Dialect): FramedMessage {
  const { header, bytes } = readFrame(data);
  const parsed = parseObject(header, dialect);
  const message = classify(parsed, dialect);
  const { bytes: field } = parsed.message;
  if (typeof field !== 'string') throw unusable('`bytes` does not name a member');
  if (message.kind === 'error') throw unusable('an error carries no bytes');
  const carrier = message.kind === 'result' ? message.result : message.params;
  if (typeof carrier !== 'object' || carrier === null || Object.hasOwn(carrier, field))
    throw unusable('there is no place for its bytes');
  Reflect.set(carrier, field, '');
  return { ...message, attached: { field, bytes } };
}

function classify({ message, structure }: ParsedObject, dialect: Dialect): IncomingMessage {
  const rawId = usableId(structure.rawId, dialect);
  const { method } = message;
  if (method !== undefined && typeof method !== 'string') throw unusable('`method` is not a string');
  if (rawId !== undefined && !isValidId(rawId))
    throw unusable(`\`id\` is neither a string of up to ${MAX_ID_CHARS} characters nor a 64-bit integer`);
  if (!isValidTrace(message.trace)) throw unusable('`trace` is malformed');

  if (method !== undefined) {
    const { params } = message;
    return rawId === undefined
      ? { kind: 'notification', method, params }
      : {
          kind: 'request',
          id: rawId,
          method,
          params,
          trace: message.trace ? traceIdOf(message.trace) : undefined,
        };
  }
  if (rawId === undefined) throw unusable('it has neither `method` nor `id`');
  if ('result' in message) return { kind: 'result', id: rawId, result: message.result };
  if (isErrorObject(message.error)) return { kind: 'error', id: rawId, error: message.error };
  throw unusable('it has neither `method` nor `result` nor `error`');
}

function usableId(rawId: RawId | undefined, dialect: Dialect): RawId | undefined {
  const unusable = rawId !== undefined && !isValidId(rawId);
  return unusable && dialect.unusableIds === 'notification' ? undefined : rawId;
}

/** An object, and the structure of the text it was parsed from. */
interface ParsedObject {
  readonly message: Record<string, unknown>;
  readonly structure: JsonStructure;
}

function parseObject(text: string, { base64Members }: Dialect): ParsedObject {
  let parsed: ParsedJson;
  try {
    parsed = parseBulkJson(text, base64Members);
  } catch (cause) {
    throw new ExecError('invalidMessage', 'failed to parse the message: it is not JSON', { cause });
  }
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unusable('it is not an object');
  }
  // JSON.parse returns objects with string keys and unknown values.
  return { message: value as Record<string, unknown>, structure: inspectJson(parsed.text) };
}

function unusable(why: string): ExecErrorType {
  return new ExecError('invalidMessage', `failed to parse the message: ${why}`);
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Ids are echoed in every answer, so a long one would cost twice. */
const MAX_ID_CHARS = 1024;

function isValidId(raw: RawId): boolean {
  if (raw.length > MAX_ID_CHARS) return false;
  if (raw.startsWith('"')) return true;
  if (!/^(0|-?[1-9]\d{0,18})$/.test(raw)) return false;
  if (raw.length < 16) return true;
  const value = BigInt(raw);
  return value >= INT64_MIN && value <= INT64_MAX;
}

function isValidTrace(trace: unknown): boolean {
  if (trace === undefined || trace === null) return true;
  if (typeof trace !== 'object' || Array.isArray(trace)) return false;
  return ['traceparent', 'tracestate'].every((name) => {
    const value: unknown = Reflect.get(trace, name);
    return value === undefined || value === null || typeof value === 'string';
  });
}

function isErrorObject(error: unknown): error is RpcErrorObject {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    Number.isInteger(error.code) &&
    'message' in error &&
    typeof error.message === 'string'
  );
}

/** The header of a frame: a serialised message whose bytes replace `field`. */
export function frameHeader(text: string, field: string): string {
  return `${text.slice(0, -1)},"bytes":${JSON.stringify(field)}}`;
}

export function requestText(id: number, method: string, params: unknown): string {
  return `{"id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params ?? null)}}`;
}

export function notificationText(method: string, params: unknown): string {
  return `{"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

export function resultText(id: RawId, result: unknown): string {
  return `{"id":${id},"result":${JSON.stringify(result)}}`;
}

/** Our own errors carry their string code in `data`; any other error is internal, and its details stay here. */
export function errorText(id: RawId, error: unknown): string {
  const known = isExecError(error) ? error : new ExecError('internalError', 'The server failed to answer.');
  const object: RpcErrorObject = {
    code: rpcNumberOf(known.code),
    message: known.message,
    data: { code: known.code, ...known.data },
  };
  return `{"error":${JSON.stringify(object)},"id":${id}}`;
}
