import type { Duplex } from 'node:stream';

export interface ConnectOptions {
  /** Only if this process listens there, or something it left behind. */
  readonly processId?: string | undefined;
  /** Only if one of the environment's own processes listens there. Default false. Always true under a sandbox policy. */
  readonly ownOnly?: boolean | undefined;
  /**
   * Resolve at once. What is written before the port has accepted is sent right behind the request, which saves a round trip; if
   * the port refuses, the stream fails. Default false.
   */
  readonly early?: boolean | undefined;
}

export interface ForwardOptions extends Pick<ConnectOptions, 'processId' | 'ownOnly'> {
  /** Where to listen here. If it is taken, or 0, a free port is used. Default: the same port. */
  readonly localPort?: number | undefined;
  /** Called when a connection could not be made or broke. */
  readonly onError?: ((error: Error) => void) | undefined;
  /**
   * Called as bytes pass, in either direction.
   *
   * @internal
   */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** A port of the environment that is available here, on loopback. */
export interface PortForward extends AsyncDisposable {
  /** The port here. */
  readonly localPort: number;
  /** The port on the environment's machine. */
  readonly port: number;
  /** Stops listening and ends all connections. Idempotent. */
  close(): Promise<void>;
}

/** Opens a connection for each client of a forwarded port. */
export type Connect = (port: number, options: ConnectOptions) => Promise<Duplex>;
