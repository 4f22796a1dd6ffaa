import type { Decided, Decision, NetworkRequest, NetworkRules, NetworkSpace } from './network/index.js';
import { trustedProgram } from './kernel/index.js';
import { isOwnDoor } from './peer/index.js';
import { type NetworkToJoin, sandboxSupport } from './sandbox/index.js';
import { ExecError } from '../protocol/errors.js';
import type { NetworkDenial, Sandbox } from '../protocol/index.js';

/** Which hosts one program may reach, and who is asked about the others. */
export interface NetworkUse {
  readonly rules: NetworkRules;
  readonly decide?: ((request: NetworkRequest) => Promise<Decision>) | undefined;
  readonly onDecided?: ((decided: Decided) => void) | undefined;
}

/** So many different hosts are remembered for whoever asks why a program failed. */
const MAX_DENIALS = 16;

/** Collects what the rules kept a program from. */
export class NetworkDenials {
  readonly #seen = new Map<string, NetworkDenial>();

  readonly note = ({ request, decision, reason }: Decided): void => {
    const { host, port } = request;
    const key = `${host} ${port} ${reason}`;
    if (decision !== 'allow' && this.#seen.size < MAX_DENIALS) this.#seen.set(key, { host, port, reason });
  };

  get list(): readonly NetworkDenial[] {
    return [...this.#seen.values()];
  }
}

/** A program's way out of its sandbox. */
export interface WayOut {
  readonly network: NetworkToJoin;
  /** They lead its programs to the proxy. */
  readonly variables: Readonly<Record<string, string>>;
  readonly denials: NetworkDenials;
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
    const denials = new NetworkDenials();
    const heard = (decided: Decided): void => {
      denials.note(decided);
      onDecided?.(decided);
    };
    const gate = new Gate(rules, { decide, onDecided: heard, isOwnDoor });
    const proxy = new Proxy(gate);
    this.#space ??= this.#openSpace();
    const space = await this.#space.catch((error: unknown) => {
      // The machine may have room the next time.
      this.#space = null;
      throw error;
    });
    const { port, release } = await space.take((socket) => proxy.serve(socket));
    return {
      denials,
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

/** True if rules for hosts can be enforced on this machine. */
export async function managesNetwork(): Promise<boolean> {
  return (await sandboxSupport()).available && trustedProgram('nsenter') !== null;
}

/** What a policy says about hosts; undefined if it does not tell them apart. */
export function networkUse({ networkRules }: Sandbox): NetworkUse | undefined {
  return networkRules && { rules: { allow: networkRules.allow, deny: networkRules.deny ?? [] } };
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
