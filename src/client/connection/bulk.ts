import {
  decodeBase64,
  encodeBase64,
  type ExecMethodName,
  type ExecMethods,
  type ExecParams,
  type ExecResult,
  execMethods,
  type MethodTable,
} from '../../protocol/index.js';
import { type RpcPeer, WithBytes } from '../../rpc/index.js';
import { definedOnly, type Deadline } from '../../transport/deadline.js';
import { readResult } from './connection.js';
import type { ExecClient } from './exec-client.js';

/** Methods whose params or result have a bulky member. */
type BulkyMethod<Side extends 'params' | 'result'> = {
  [Name in ExecMethodName]: ExecMethods[Name]['bytes'] extends Record<Side, string> ? Name : never;
}[ExecMethodName];

/** Parameters without their bulky member. */
type ParamsWithoutBytes<Name extends BulkyMethod<'params'>> = Omit<
  ExecParams<Name>,
  ExecMethods[Name]['bytes']['params']
>;

/** A request with its bulky bytes separate from the other parameters. */
export interface BulkRequest {
  readonly method: ExecMethodName;
  readonly params: unknown;
  readonly bytes: Uint8Array | undefined;
}

const methods: MethodTable = execMethods;

/** Sends a request, with raw bytes if the server accepts them. */
export function sendRequest(peer: RpcPeer, request: BulkRequest, deadline: Deadline): Promise<unknown> {
  const { method, params, bytes } = request;
  const field = methods[method]?.bytes?.params;
  const limits = definedOnly(deadline);
  if (bytes === undefined || field === undefined) return peer.call(method, params, limits);
  if (peer.sendsBytes) return peer.call(method, params, { ...limits, attached: { field, bytes } });
  return peer.call(method, { ...Object(params), [field]: encodeBase64(bytes) }, limits);
}

/** Parses an answer by its declaration, whether or not its bytes came separately. */
export function resultOf<Name extends ExecMethodName>(method: Name, answer: unknown): ExecResult<Name> {
  if (!(answer instanceof WithBytes)) return readResult(method, answer);
  const { field, bytes, rest } = answer;
  return readResult(method, { ...rest, [field]: encodeBase64(bytes) });
}

/**
 * Calls a method whose bulky member is passed as `bytes` rather than in `params`. The bytes must not change until it is
 * answered.
 */
export async function callWithBytes<Name extends BulkyMethod<'params'>>(
  client: ExecClient,
  method: Name,
  request: { params: ParamsWithoutBytes<Name>; bytes: Uint8Array },
): Promise<ExecResult<Name>> {
  return resultOf(method, await client.exchange({ method, ...request }));
}

/** Calls a method whose answer has a bulky member, and returns that as bytes. */
export async function callForBytes<Name extends BulkyMethod<'result'>>(
  client: ExecClient,
  method: Name,
  params: ExecParams<Name>,
): Promise<{ result: ExecResult<Name>; bytes: Uint8Array }> {
  const answer = await client.exchange({ method, params, bytes: undefined });
  const field: string = execMethods[method].bytes.result;
  if (answer instanceof WithBytes && answer.field === field)
    return { result: readResult(method, answer.rest), bytes: answer.bytes };
  const result = resultOf(method, answer);
  return { result, bytes: decodeBase64(String(Reflect.get(result, field)), 'protocolViolation') };
}
