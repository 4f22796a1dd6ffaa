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
import { isUnknownSession } from './remote-errors.js';

/** How a connection is made. Every attempt gets a channel of its own. */
export interface ConnectionOptions {
  readonly dial: () => Promise<Channel>;
  readonly clientName: string;
  readonly binaryFrames: boolean;
  readonly connectTimeoutMs: number;
  readonly initializeTimeoutMs: number;
  /** The session to take up again. When it is gone, a new one is opened on the same connection. */
  readonly resumeSessionId: string | undefined;
  readonly onNotification: (method: string, params: unknown, attached?: Attachment) => void;
  readonly onClosed: (reason: CloseReason) => void;
  readonly onLog: (message: string) => void;
}

/** A connection with its handshake done. */
export interface Connection {
  readonly channel: Channel;
  readonly peer: RpcPeer;
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly info: EnvironmentInfo | undefined;
  readonly capabilities: ServerCapabilities;
}

/** Dials and shakes hands. Whatever goes wrong, nothing is left open. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const channel = await dial(options);
  const handler: PeerHandler = {
    request: (method) => {
      throw new ExecError('methodNotFound', `unknown method: ${method.slice(0, 100)}`);
    },
    notification: options.onNotification,
    // The answer to a call that was given up comes all the same.
    violation: (error) => options.onLog(`${channel.label}: ${error.message}`),
    closed: options.onClosed,
  };
  const peer = new RpcPeer(channel, handler, { dialect: execDialect });
  // The first frame may come right behind the answer that agrees to them.
  peer.acceptsBytes = options.binaryFrames && channel.carriesBytes === true;
  peer.open();
  try {
    const { result, resumed } = await shakeHands(peer, options);
    peer.notify('initialized', {});
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
    throw new ExecError('notConnected', 'The connection could not be made.', { cause: error });
  }
}

async function shakeHands(
  peer: RpcPeer,
  options: ConnectionOptions,
): Promise<{ result: ExecResult<'initialize'>; resumed: boolean }> {
  const { resumeSessionId } = options;
  if (resumeSessionId === undefined) return { result: await initialize(peer, options, null), resumed: false };
  try {
    const result = await initialize(peer, options, resumeSessionId);
    // A server that knows nothing of resuming opens a new session instead of refusing.
    return { result, resumed: result.sessionId === resumeSessionId };
  } catch (error) {
    if (!isUnknownSession(error)) throw error;
    return { result: await initialize(peer, options, null), resumed: false };
  }
}

async function initialize(
  peer: RpcPeer,
  { clientName, initializeTimeoutMs }: ConnectionOptions,
  resumeSessionId: string | null,
): Promise<ExecResult<'initialize'>> {
  const capabilities = { flowControl: true, ...(peer.acceptsBytes ? { binaryFrames: true } : {}) };
  const params = { clientName, resumeSessionId, capabilities };
  return readResult('initialize', await peer.call('initialize', params, { timeoutMs: initializeTimeoutMs }));
}

/** Reads an answer by its declaration: fields we do not know are ignored, what we need must be there. */
export function readResult<Name extends ExecMethodName>(method: Name, raw: unknown): ExecResult<Name> {
  const outcome = execMethods[method].result.safeParse(raw);
  // The table ties the schema to the method, which the compiler cannot follow through a union.
  if (outcome.success) return outcome.data as ExecResult<Name>;
  const where = outcome.error.issues[0]?.path.join('.') ?? '';
  throw new ExecError('protocolViolation', `The answer to ${method} is not understood at "${where}".`);
}
