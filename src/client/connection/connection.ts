import type { NetworkAsker } from '../../contract/index.js';
import { execDialect } from '../../protocol/dialects.js';
import {
  type EnvironmentInfo,
  ExecError,
  type ExecMethodName,
  type ExecResult,
  execMethods,
  isExecError,
  type ServerCapabilities,
} from '../../protocol/index.js';
import {
  type Attachment,
  type Channel,
  type CloseReason,
  type PeerHandler,
  RpcPeer,
} from '../../rpc/index.js';
import { withDeadline } from '../../transport/deadline.js';
import { answerRequest } from './answer-request.js';
import { isUnknownSession } from './remote-errors.js';

/** How to open a connection. Every attempt uses a new channel. */
export interface ConnectionOptions {
  readonly dial: () => Promise<Channel>;
  readonly clientName: string;
  readonly binaryFrames: boolean;
  readonly connectTimeoutMs: number;
  readonly initializeTimeoutMs: number;
  /** The session to resume. If it is gone, a new one is opened on the same connection. */
  readonly resumeSessionId: string | undefined;
  readonly onNotification: (method: string, params: unknown, attached?: Attachment) => void;
  readonly onClosed: (reason: CloseReason) => void;
  readonly onLog: (message: string) => void;
  /** Answers questions about hosts. If absent, the server is told not to ask. */
  readonly onNetworkRequest?: NetworkAsker | undefined;
  /**
   * Called before the handshake is answered, so that more can be sent right after it. If absent, the handshake is done
   * step by step, which every server supports.
   */
  readonly onOpening?: ((opening: OpeningConnection) => void) | undefined;
}

/** A connection whose handshake is done. */
export interface Connection {
  readonly channel: Channel;
  readonly peer: RpcPeer;
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly info: EnvironmentInfo | undefined;
  readonly capabilities: ServerCapabilities;
}

/** A connection whose handshake was sent but not answered yet. */
export interface OpeningConnection {
  readonly peer: RpcPeer;
  readonly opened: Promise<Connection>;
}

/** Dials and performs the handshake. Closes everything if that fails. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const channel = await dial(options);
  const handler: PeerHandler = {
    request: (method, params) => answerRequest(method, params, options.onNetworkRequest),
    notification: options.onNotification,
    // The answer to an abandoned call still arrives.
    violation: (error) => options.onLog(`${channel.label}: ${error.message}`),
    closed: options.onClosed,
  };
  const peer = new RpcPeer(channel, handler, { dialect: execDialect });
  // The first frame may arrive right after the answer that agrees to them.
  peer.acceptsBytes = options.binaryFrames && channel.carriesBytes === true;
  peer.open();
  const opened = handshake(channel, peer, options);
  options.onOpening?.({ peer, opened });
  return await opened;
}

async function handshake(channel: Channel, peer: RpcPeer, options: ConnectionOptions): Promise<Connection> {
  try {
    const { result, resumed } = await shakeHands(peer, options);
    const { sessionId, environmentInfo: info, capabilities = {} } = result;
    peer.sendsBytes = peer.acceptsBytes && capabilities.binaryFrames === true;
    return { channel, peer, sessionId, resumed, info, capabilities };
  } catch (error) {
    peer.destroy('the handshake failed');
    throw error;
  }
}

async function dial({ dial, connectTimeoutMs }: ConnectionOptions): Promise<Channel> {
  const dialled = dial();
  let late = false;
  dialled.then(
    (channel) => late && channel.destroy('it came too late'),
    () => undefined,
  );
  try {
    return await withDeadline(dialled, {
      timeoutMs: connectTimeoutMs,
      what: 'Connecting',
      late: () => new ExecError('notConnected', `No connection within ${connectTimeoutMs} ms.`),
    });
  } catch (error) {
    late = true;
    if (isExecError(error)) throw error;
    throw new ExecError('notConnected', 'The connection could not be established.', { cause: error });
  }
}

async function shakeHands(
  peer: RpcPeer,
  options: ConnectionOptions,
): Promise<{ result: ExecResult<'initialize'>; resumed: boolean }> {
  const { resumeSessionId, onOpening } = options;
  const pipelined = onOpening !== undefined;
  if (resumeSessionId === undefined) {
    return {
      result: await initialize(peer, options, { resumeSessionId: null, pipelined }),
      resumed: false,
    };
  }
  try {
    const result = await initialize(peer, options, { resumeSessionId, pipelined });
    // A server that does not support resuming opens a new session instead of refusing.
    return { result, resumed: result.sessionId === resumeSessionId };
  } catch (error) {
    if (!isUnknownSession(error)) throw error;
    const fresh = { resumeSessionId: null, pipelined: false };
    return { result: await initialize(peer, options, fresh), resumed: false };
  }
}

async function initialize(
  peer: RpcPeer,
  { clientName, initializeTimeoutMs: timeoutMs, onNetworkRequest }: ConnectionOptions,
  { resumeSessionId, pipelined }: { resumeSessionId: string | null; pipelined: boolean },
): Promise<ExecResult<'initialize'>> {
  const bytes = peer.acceptsBytes ? { binaryFrames: true } : {};
  const asks = onNetworkRequest ? { networkAsk: true } : {};
  const capabilities = { flowControl: true, ahead: true, ...bytes, ...asks };
  const answer = peer.call('initialize', { clientName, resumeSessionId, capabilities }, { timeoutMs });
  if (pipelined) peer.notify('initialized', {});
  const result = readResult('initialize', await answer);
  if (!pipelined) peer.notify('initialized', {});
  return result;
}

/** Parses an answer by its declaration: unknown fields are ignored, required ones must be present. */
export function readResult<Name extends ExecMethodName>(method: Name, raw: unknown): ExecResult<Name> {
  const outcome = execMethods[method].result.safeParse(raw);
  // The table ties the schema to the method, which the compiler cannot follow through a union.
  if (outcome.success) return outcome.data as ExecResult<Name>;
  const where = outcome.error.issues[0]?.path.join('.') ?? '';
  throw new ExecError('protocolViolation', `The answer to ${method} is not understood at "${where}".`);
}
