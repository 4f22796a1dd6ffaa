import type { Decided, Decision, NetworkRequest, NetworkRules, NetworkSpace } from './network/index.js';
import { trustedProgram } from './kernel/index.js';
import { isOwnDoor } from './peer/index.js';
import { type NetworkToJoin, sandboxSupport } from './sandbox/index.js';
import { ExecError } from '../protocol/errors.js';

/** Which hosts one program may reach, and who is asked about the others. */
export interface NetworkUse {
  readonly rules: NetworkRules;
  readonly decide?: ((request: NetworkRequest) => Promise<Decision>) | undefined;
  readonly onDecided?: ((decided: Decided) => void) | undefined;
}

/** A program's way out of its sandbox. */
export interface WayOut {
  readonly network: NetworkToJoin;
  /** They lead its programs to the proxy. */
  readonly variables: Readonly<Record<string, string>>;
  /** Ends every connection. Idempotent. */
  close(): void;
}

/** Loaded where it is wanted: most programs have the network or none. */
const room = (): Promise<typeof import('./network/index.js')> => import('./network/index.js');

/** The network of all managed programs of one owner: they reach each other, and each what its own rules allow. */
export class ManagedNetwork {
  #space: Promise<NetworkSpace> | null = null;
  #closed = false;

  /** Throws `sandboxUnavailable` if it cannot be enforced, `invalidParams` if the rules cannot be understood. */
  async open({ rules, decide, onDecided }: NetworkUse): Promise<WayOut> {
    const { Gate, Proxy, proxyVariables } = await room();
    const gate = new Gate(rules, { decide, onDecided, isOwnDoor });
    const proxy = new Proxy(gate);
    this.#space ??= this.#openSpace();
    const space = await this.#space.catch((error: unknown) => {
      // The machine may have room the next time.
      this.#space = null;
      throw error;
    });
    const { port, release } = await space.take((socket) => proxy.serve(socket));
    return {
      network: { enter: space.enter },
      // Inside, loopback is the sandboxes' own, unless the rules mean that of this machine.
      variables: proxyVariables(port, { localIsInside: !gate.namesLoopback }),
      close: () => {
        proxy.close();
        release();
      },
    };
  }

  close(): void {
    this.#closed = true;
    void this.#space?.then((space) => space.close()).catch(() => undefined);
  }

  async #openSpace(): Promise<NetworkSpace> {
    const [{ NetworkSpace }, support] = await Promise.all([room(), sandboxSupport()]);
    const nsenter = trustedProgram('nsenter');
    if (!support.available || nsenter === null || this.#closed) throw notManaged();
    const { bwrap, userNamespace } = support;
    return new NetworkSpace({ bwrap, nsenter, userNamespace });
  }
}

function notManaged(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'This server cannot manage the network of a process, so nothing was run.',
    {
      data: {
        reason: 'managedNetwork',
        hint: 'Install bubblewrap and util-linux (nsenter), or restrict the network.',
      },
    },
  );
}
