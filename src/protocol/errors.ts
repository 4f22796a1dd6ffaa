/** JSON-RPC numbers in use. Several string codes share a number; clients see both. */
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const NOT_FOUND = -32004;
const SESSION_BUSY = -32010;
const OVERLOADED = -32001;

interface CatalogueEntry {
  /** The number on the wire, or null for failures that exist only on this side. */
  readonly rpc: number | null;
  /** One sentence for people: when this happens and what to do. */
  readonly doc: string;
}

/** Every error Execwire raises. Codes are stable; messages are not. */
export const errorCatalogue = {
  invalidMessage: {
    rpc: INVALID_REQUEST,
    doc: 'The message is not a JSON-RPC request, notification or response.',
  },
  invalidRequest: {
    rpc: INVALID_REQUEST,
    doc: 'The request cannot be decoded, or its parameters contradict each other.',
  },
  experimentalApiRequired: {
    rpc: INVALID_REQUEST,
    doc: 'The method or field requires `capabilities.experimentalApi` in `initialize`.',
  },
  notInitialized: { rpc: INVALID_REQUEST, doc: 'The method requires `initialize` and `initialized` first.' },
  alreadyInitialized: { rpc: INVALID_REQUEST, doc: '`initialize` was called twice on one connection.' },
  sessionNotFound: {
    rpc: INVALID_REQUEST,
    doc: 'The session to resume does not exist or has expired.',
  },
  sessionBusy: {
    rpc: SESSION_BUSY,
    doc: 'The session is attached to another connection; try again shortly.',
  },
  tooManySessions: { rpc: OVERLOADED, doc: 'The server has reached its limit of sessions; try again later.' },
  methodNotFound: { rpc: METHOD_NOT_FOUND, doc: 'The server does not know this method.' },
  invalidParams: { rpc: INVALID_PARAMS, doc: 'The parameters are not valid for the method.' },
  invalidPath: { rpc: INVALID_REQUEST, doc: 'The path cannot be used on this machine.' },
  invalidLimit: { rpc: INVALID_REQUEST, doc: 'A number is outside the range the method allows.' },
  invalidData: { rpc: INVALID_REQUEST, doc: 'The data is not valid base64.' },
  processNotFound: { rpc: INVALID_REQUEST, doc: 'No process with this id exists in the session.' },
  processIdInUse: { rpc: INVALID_REQUEST, doc: 'A process with this id already exists.' },
  tooManyProcesses: { rpc: OVERLOADED, doc: 'The session has reached its limit of processes.' },
  tooManyKeptProcesses: {
    rpc: OVERLOADED,
    doc: 'The server has reached its limit of kept processes; end some that are no longer needed.',
  },
  leasesUnavailable: {
    rpc: INVALID_REQUEST,
    doc: 'This server ends with its client, so nothing can outlive it; use one started with `execwire serve`.',
  },
  viewOnly: {
    rpc: INVALID_REQUEST,
    doc: 'This client only views the process; attach without `view`, with a token that is not a share, to change it.',
  },
  keyboardElsewhere: {
    rpc: INVALID_REQUEST,
    doc: 'Another client types to the process; take the keyboard, or ask for it.',
  },
  machineDraining: {
    rpc: OVERLOADED,
    doc: 'The machine is being drained and starts nothing new; use another one.',
  },
  processExited: { rpc: INVALID_REQUEST, doc: 'The process has ended.' },
  stdinClosed: { rpc: INVALID_REQUEST, doc: 'The stdin of the process is closed.' },
  stdinNotStreamed: {
    rpc: INVALID_REQUEST,
    doc: 'The process was started without a stdin to write to.',
  },
  stdinFull: {
    rpc: OVERLOADED,
    doc: 'The process does not read its input and the queue is full; nothing was written.',
  },
  notATerminal: { rpc: INVALID_REQUEST, doc: 'The process does not run on a terminal.' },
  spawnFailed: { rpc: INTERNAL, doc: 'The program could not be started; `data.reason` says why.' },
  ptyUnavailable: { rpc: INTERNAL, doc: 'This platform has no terminal backend; start without `tty`.' },
  sandboxUnavailable: {
    rpc: INTERNAL,
    doc: 'The sandbox policy cannot be enforced here, so nothing was run.',
  },
  limitsUnavailable: {
    rpc: INTERNAL,
    doc: 'Limits of memory, CPU time or open files cannot be enforced here, so nothing was run.',
  },
  changesNotFound: { rpc: NOT_FOUND, doc: 'No set of held changes with this id belongs to the client.' },
  changesInUse: {
    rpc: SESSION_BUSY,
    doc: 'Programs still run in this set of held changes, or another server uses it; try again when they have ended.',
  },
  changesFull: {
    rpc: OVERLOADED,
    doc: 'The held changes have reached their size limit; apply what you want to keep and discard a set.',
  },
  notFound: { rpc: NOT_FOUND, doc: 'The file, directory or handle does not exist.' },
  permissionDenied: { rpc: INVALID_REQUEST, doc: 'The operating system refused access.' },
  invalidFile: { rpc: INVALID_REQUEST, doc: 'The operation does not apply to this kind of file.' },
  fileTooLarge: { rpc: INVALID_REQUEST, doc: 'The file is larger than one message may carry; stream it.' },
  handleInUse: { rpc: INVALID_REQUEST, doc: 'A file handle with this id is already open.' },
  tooManyHandles: { rpc: INVALID_REQUEST, doc: 'The connection has reached its limit of open files.' },
  watchIdInUse: { rpc: INVALID_REQUEST, doc: 'A watch with this id is already active.' },
  tooManyWatches: { rpc: INVALID_REQUEST, doc: 'The connection has reached its limit of watches.' },
  portRefused: {
    rpc: INVALID_REQUEST,
    doc: 'Nothing that may be reached accepts connections on this port; see `execwire ports`.',
  },
  tooManyStreams: { rpc: OVERLOADED, doc: 'The session has reached its limit of streams; close some.' },
  unknownEnvironment: { rpc: INVALID_REQUEST, doc: 'No environment with this id is configured.' },
  environmentUnavailable: { rpc: INTERNAL, doc: 'The environment cannot be reached.' },
  outputTooLarge: {
    rpc: INTERNAL,
    doc: 'The output is larger than one message may carry; stream it or set a cap.',
  },
  spoolUnavailable: {
    rpc: INVALID_REQUEST,
    doc: 'The server keeps no output on disk, or its spool directory cannot be used; start without `retain` and `onSlowReader`.',
  },
  notRecorded: {
    rpc: INVALID_REQUEST,
    doc: 'The output of the process is in memory only, without times; start it with `retain: "disk"` for a history.',
  },
  upgradeUnavailable: {
    rpc: INVALID_REQUEST,
    doc: 'The server cannot be replaced while it runs; start it with `execwire serve --durable DIR`.',
  },
  upgradeRefused: {
    rpc: INVALID_REQUEST,
    doc: 'The new server could not take over, so the old one goes on; the message says why.',
  },
  ioFailed: { rpc: INTERNAL, doc: 'The operating system reported an error.' },
  httpFailed: { rpc: INTERNAL, doc: 'The HTTP request failed before a complete answer arrived.' },
  overloaded: {
    rpc: OVERLOADED,
    doc: 'Too many requests are in progress on this connection; try again later.',
  },
  internalError: { rpc: INTERNAL, doc: 'Execwire failed; this is a bug.' },

  notConnected: { rpc: null, doc: 'The connection could not be established.' },
  connectionClosed: { rpc: null, doc: 'The connection ended before the answer arrived.' },
  requestTimeout: { rpc: null, doc: 'The answer did not arrive in time.' },
  aborted: { rpc: null, doc: 'The caller gave up.' },
  commandFailed: {
    rpc: null,
    doc: 'A command that was required to succeed exited with a non-zero code, was killed or timed out; see `result`.',
  },
  lineTooLong: { rpc: null, doc: 'A line of output is longer than `maxLineBytes`.' },
  outputLost: {
    rpc: null,
    doc: 'Output was lost while the connection was down; `data.lostBytes` says how much.',
  },
  contactLost: { rpc: null, doc: 'The machine is unreachable, and the state of the process is unknown.' },
  streamReset: { rpc: null, doc: 'The other end of a stream was lost before both directions had ended.' },
  protocolViolation: { rpc: null, doc: 'The other side violated the protocol.' },
  unsupported: { rpc: null, doc: 'The other side does not support this.' },
  remoteError: { rpc: null, doc: 'The other side answered with an error of its own.' },
  damagedRecording: { rpc: null, doc: 'A recording cannot be played; the message names the line.' },
  environmentNotFound: { rpc: null, doc: 'No environment with this id is configured.' },
  invalidConfiguration: { rpc: null, doc: 'A configuration file or flag is wrong.' },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** Codes that have a number and may cross the wire. */
export type WireErrorCode = {
  [Code in ErrorCode]: (typeof errorCatalogue)[Code]['rpc'] extends number ? Code : never;
}[ErrorCode];

export type ErrorData = Readonly<Record<string, unknown>>;

/** The one error class. Tell errors apart with `isExecError`, never by message. */
export class ExecError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ExecError';
  readonly code: Code;
  readonly data: ErrorData;

  constructor(code: Code, message: string, options: { data?: ErrorData; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
  }
}

/** True for an ExecError, with the given code if there is one. Works across copies of the package. */
export function isExecError<Code extends ErrorCode>(error: unknown, code?: Code): error is ExecError<Code> {
  if (!(error instanceof Error) || error.name !== 'ExecError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}

/** The number an error is sent under. Local failures are sent as internal errors. */
export function rpcNumberOf(code: ErrorCode): number {
  return errorCatalogue[code].rpc ?? INTERNAL;
}
