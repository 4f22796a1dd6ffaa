import type {
  Decided,
  Decision,
  NetworkRequest,
  NetworkRules,
  NetworkSpace,
  SpaceTools,
} from './network/index.js';
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

/** Networks kept for the next program with the same rules. Each has some ports, and no process. */
const MAX_IDLE_SPACES = 4;

interface SharedSpace {
  readonly space: NetworkSpace;
  users: number;
}

/**
 * The networks of one owner's managed programs. Those with the same rules share one, and reach each other. Others must not:
 * each could leave through the proxy of the one that may do more.
 */
export class ManagedNetwork {
  /** By their rules, least recently used first. */
  readonly #spaces = new Map<string, SharedSpace>();
  #closed = false;

  /** Throws `sandboxUnavailable` if it cannot be enforced, `invalidParams` if the rules cannot be understood. */
  async open({ rules, decide, onDecided }: NetworkUse): Promise<WayOut> {
    const { Gate, NetworkSpace, Proxy, proxyVariables } = await room();
    const denials = new NetworkDenials();
    const heard = (decided: Decided): void => {
      denials.note(decided);
      onDecided?.(decided);
    };
    const gate = new Gate(rules, { decide, onDecided: heard, isOwnDoor });
    const tools = await spaceTools();
    if (this.#closed) throw notManaged();
    const shared = this.#take(JSON.stringify(rules), () => new NetworkSpace(tools));
    const proxy = new Proxy(gate);
    try {
      const { port, release } = await shared.space.take((socket) => proxy.serve(socket));
      return {
        denials,
        network: shared.space.entrance,
        // Inside, loopback is the sandboxes' own, unless the rules mean that of this machine.
        variables: proxyVariables(port, { localIsInside: !gate.namesLoopback }),
        close: once(() => {
          proxy.close();
          release();
          this.#giveBack(shared);
        }),
      };
    } catch (error) {
      this.#giveBack(shared);
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    for (const { space } of this.#spaces.values()) space.close();
    this.#spaces.clear();
  }

  #take(key: string, make: () => NetworkSpace): SharedSpace {
    const shared = this.#spaces.get(key) ?? { space: make(), users: 0 };
    this.#spaces.delete(key);
    this.#spaces.set(key, shared);
    shared.users += 1;
    return shared;
  }

  #giveBack(shared: SharedSpace): void {
    shared.users -= 1;
    const idle = [...this.#spaces].filter(([, { users }]) => users === 0);
    for (const [key, { space }] of idle.slice(0, -MAX_IDLE_SPACES)) {
      this.#spaces.delete(key);
      space.close();
    }
  }
}

function once(task: () => void): () => void {
  let done = false;
  return () => {
    if (!done) task();
    done = true;
  };
}

async function spaceTools(): Promise<SpaceTools> {
  const support = await sandboxSupport();
  const nsenter = trustedProgram('nsenter');
  if (!support.available || nsenter === null) throw notManaged();
  return { bwrap: support.bwrap, nsenter, userNamespace: support.userNamespace };
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
