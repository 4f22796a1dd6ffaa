import { admitsPeer, hideFromSandboxes } from '../host/index.js';
import { ExecError } from '../protocol/errors.js';
import {
  type Admission,
  type CompressionUse,
  type ListenAddress,
  parseListenAddress,
  sha256,
  type WebSocketAuth,
  WebSocketListener,
} from '../transport/index.js';
import { ExecServer, type ExecServerOptions } from './exec-server.js';

const DEFAULT_LISTEN = 'ws://127.0.0.1:0';

export interface ServeOptions extends ExecServerOptions {
  /**
   * Where clients connect: `ws://IP:PORT` or `unix:///PATH`, or several of these. Default: a free port of 127.0.0.1. An
   * empty list serves only channels handed to `server.accept`.
   */
  readonly listen?: string | readonly string[] | undefined;
  /** What clients must present: a token, or a signed one. Needed on every address but loopback. */
  readonly auth?: { readonly token: string } | WebSocketAuth | undefined;
  /** Certificate and key in PEM: serves `wss://` instead of `ws://`. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Names beside the address itself and localhost that clients may use for this machine. */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Whose output may be compressed, where the line is slower than that and the output gets shorter. Default `remote`: that of
   * clients on other machines.
   */
  readonly compression?: CompressionUse | undefined;
  /** Told when a connection could not be taken in, for want of descriptors for example. Listening goes on. */
  readonly onAcceptError?: ((error: Error) => void) | undefined;
  /** Who is served at all, beside what `auth` asks for. Default: everybody but programs in sandboxes of this server. */
  readonly admission?: Admission | undefined;
}

/** A server and its listeners. */
export interface Serving extends AsyncDisposable {
  /** Where it listens, in the order asked for, with the ports the system chose. */
  readonly urls: readonly string[];
  /** For clients that come some other way, over a channel of your own. */
  readonly server: ExecServer;
  /** Stops listening and ends every session with all its processes. Idempotent. */
  close(): Promise<void>;
}

/** Serves this machine: runs processes and touches files for whoever connects. Resolves once every address is bound. */
export async function serve(options: ServeOptions = {}): Promise<Serving> {
  const { listen = DEFAULT_LISTEN, auth: given, tls, allowedHosts = [], onAcceptError } = options;
  const { admission = admitsPeer, compression } = options;
  const auth = given && 'token' in given ? capabilityToken(given.token) : given;
  const addresses = [listen].flat().map(listenAddress);
  const server = new ExecServer(options);
  const listeners: WebSocketListener[] = [];
  const close = async (): Promise<void> => {
    await Promise.all([server.close(), ...listeners.map((listener) => listener.close())]);
  };
  try {
    for (const address of addresses) {
      const onConnection: WebSocketListenerHandler = (channel, { probe, introduced }) =>
        void server.accept(channel, { probe, introduced });
      const settings = { auth, tls, allowedHosts, onAcceptError, admission, compression };
      if (address.kind === 'unix') hideFromSandboxes(address.path);
      listeners.push(await WebSocketListener.open({ address, ...settings, onConnection }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => (closing ??= close());
  return {
    urls: listeners.map(({ url }) => url),
    server,
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

type WebSocketListenerHandler = Parameters<typeof WebSocketListener.open>[0]['onConnection'];

function listenAddress(text: string): Exclude<ListenAddress, { kind: 'stdio' }> {
  const address = parseListenAddress(text);
  if (address.kind === 'stdio') {
    throw new ExecError(
      'invalidConfiguration',
      'serve() listens on ws://IP:PORT and unix:///PATH. For stdin and stdout, hand a LineChannel to server.accept().',
    );
  }
  return address;
}

function capabilityToken(token: string): WebSocketAuth {
  if (token === '') throw new ExecError('invalidConfiguration', 'The token in auth is empty.');
  return { mode: 'capability-token', tokenSha256: sha256(token) };
}
