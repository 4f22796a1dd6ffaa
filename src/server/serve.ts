import { admitsPeer, hideFromSandboxes, peerUser } from '../host/index.js';
import { ExecError } from '../protocol/errors.js';
import {
  type Admission,
  type CompressionUse,
  type ListenAddress,
  type Refusal,
  parseListenAddress,
  sha256,
  type WebSocketAuth,
  WebSocketListener,
} from '../transport/index.js';
import { KeptDoors } from './durable/kept-doors.js';
import type { Share } from './shares.js';
import { ExecServer } from './exec-server.js';
import type { ExecServerOptions } from './exec-server-options.js';

const DEFAULT_LISTEN = 'ws://127.0.0.1:0';

export interface ServeOptions extends ExecServerOptions {
  /**
   * Addresses to listen on: one or more of `ws://IP:PORT` and `unix:///PATH`. Default: a free port on 127.0.0.1. With
   * an empty list, only channels passed to `server.accept` are served.
   */
  readonly listen?: string | readonly string[] | undefined;
  /** What clients must present: a fixed token or a signed one. Required on every address except loopback. */
  readonly auth?: { readonly token: string } | WebSocketAuth | undefined;
  /** PEM certificate and key: serves `wss://` instead of `ws://`. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Names by which clients may address this machine, besides its address and localhost. */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Whose output may be compressed, provided the line is slower than compressing and the output shrinks. Default
   * `remote`: clients on other machines.
   */
  readonly compression?: CompressionUse | undefined;
  /** Called when a connection could not be accepted, for example because descriptors ran out. Listening continues. */
  readonly onAcceptError?: ((error: Error) => void) | undefined;
  /** Decides who is served, in addition to `auth`. Default: everyone except programs in this server's sandboxes. */
  readonly admission?: Admission | undefined;
}

/** A server and its listeners. */
export interface Serving extends AsyncDisposable {
  /** The addresses it listens on, in the requested order, with the ports the system chose. */
  readonly urls: readonly string[];
  /** Accepts clients that connect some other way, over a channel of your own. */
  readonly server: ExecServer;
  /** Uses other credentials for new connections. Existing connections stay. */
  renew(credentials: Pick<ServeOptions, 'auth' | 'tls'>): void;
  /** Accepts no more connections. Existing ones stay. */
  stopListening(): Promise<void>;
  /** Stops listening and ends all sessions with their processes. Idempotent. */
  close(): Promise<void>;
}

/** Serves this machine: runs processes and accesses files for its clients. Resolves once every address is bound. */
export async function serve(options: ServeOptions = {}): Promise<Serving> {
  const { listen = DEFAULT_LISTEN, auth: given, tls, allowedHosts = [], onAcceptError } = options;
  const { admission = admitsPeer, compression } = options;
  const auth = authOf(given);
  const addresses = [listen].flat().map(listenAddress);
  const server = new ExecServer(options);
  const listeners: WebSocketListener[] = [];
  const doors = new KeptDoors(options.durable);
  const close = async (): Promise<void> => {
    await Promise.all([server.close(), ...listeners.map((listener) => listener.close())]);
  };
  try {
    for (const address of addresses) {
      const door = listeners.length;
      const onConnection: WebSocketListenerHandler = (channel, { share, ...connection }) => {
        // The listener passes on what `shareOf` returned, or what it was given with a connection.
        const leave = share === undefined ? {} : { share: share as Share };
        void server.accept(channel, { ...connection, ...leave, door });
      };
      const settings = {
        auth,
        tls,
        allowedHosts,
        onAcceptError,
        admission,
        compression,
        userAt: peerUser,
        shareOf: (token: string) => server.shareOf(token),
        onRefused: (refusal: Refusal) => options.observe?.({ event: 'loginRefused', ...refusal }),
      };
      if (address.kind === 'unix') hideFromSandboxes(address.path);
      const socket = doors.socketOf(door);
      const listener = await WebSocketListener.open({ address, ...settings, socket, onConnection });
      doors.opened(listener);
      listeners.push(listener);
    }
    server.openTo(doors);
  } catch (error) {
    await close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => (closing ??= close());
  return {
    urls: listeners.map(({ url }) => url),
    server,
    renew: (credentials) => {
      const renewed = { auth: authOf(credentials.auth), tls: credentials.tls };
      for (const listener of listeners) listener.renew(renewed);
    },
    stopListening: async () => {
      for (const listener of listeners) listener.refuseNewcomers();
    },
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

function authOf(given: ServeOptions['auth']): WebSocketAuth | undefined {
  return given && 'token' in given ? capabilityToken(given.token) : given;
}

function capabilityToken(token: string): WebSocketAuth {
  if (token === '') throw new ExecError('invalidConfiguration', 'The token in auth is empty.');
  return { mode: 'capability-token', tokenSha256: sha256(token) };
}
