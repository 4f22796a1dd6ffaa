import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type {
  AskAboutHost,
  Decided,
  Decision,
  HostAnswers,
  NetworkRequest,
  NetworkRules,
  NetworkSpace,
  SpacePort,
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
  /** Asked about hosts that the rules do not know. The signal fires when the program has ended. */
  readonly decide?: ((request: NetworkRequest, signal: AbortSignal) => Promise<Decision>) | undefined;
  /** The same where answers are remembered; null: nobody is there to ask. */
  readonly ask?: AskAboutHost | null | undefined;
  readonly onDecided?: ((decided: Decided) => void) | undefined;
  /** Whether the proxy speaks SOCKS. Default true. */
  readonly socks?: boolean | undefined;
  /** Whether local addresses are those of the sandbox, unless the rules name them. Default true. */
  readonly localIsInside?: boolean | undefined;
}

/** A proxy that exists already: its address is in the variables of the program. */
export interface ExistingProxyUse {
  readonly existingProxy: true;
}

/** So many different hosts are remembered for whoever asks why a program failed. */
const MAX_DENIALS = 16;

/** Collects what the rules kept a program from. */
export class NetworkDenials {
  readonly #seen = new Map<string, NetworkDenial>();
  readonly #onNew: (denial: NetworkDenial) => void;

  constructor(onNew: (denial: NetworkDenial) => void = () => undefined) {
    this.#onNew = onNew;
  }

  readonly note = ({ request, decision, reason }: Decided): void => {
    const { host, port } = request;
    const key = `${host} ${port} ${reason}`;
    if (decision === 'allow' || this.#seen.size >= MAX_DENIALS || this.#seen.has(key)) return;
    const denial = { host, port, reason };
    this.#seen.set(key, denial);
    this.#onNew(denial);
  };

  get list(): readonly NetworkDenial[] {
    return [...this.#seen.values()];
  }
}

/** About the program that needs a way out. */
export interface WayOutOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Hears of each host that it is kept from, once, and of so many at most. */
  readonly onDenied?: ((denial: NetworkDenial) => void) | undefined;
}

/** Answers connections from inside. */
interface PortServer {
  serve(socket: Socket): void;
  close(): void;
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
  /** What the owner said about hosts. */
  #answers: HostAnswers | undefined;
  #closed = false;

  /** Throws `sandboxUnavailable` if it cannot be enforced, `invalidParams` if the rules cannot be understood. */
  async open(use: NetworkUse | ExistingProxyUse, { env, onDenied }: WayOutOptions): Promise<WayOut> {
    if ('existingProxy' in use) return await this.#openBridges(env);
    return await this.#openProxy(use, new NetworkDenials(onDenied));
  }

  async #openProxy(use: NetworkUse, denials: NetworkDenials): Promise<WayOut> {
    const { rules, onDecided, socks, localIsInside = true } = use;
    const { Gate, HostAnswers, Proxy, proxyVariables } = await room();
    this.#answers ??= new HostAnswers();
    const decide =
      use.decide ?? (use.ask === undefined ? undefined : this.#answers.decider(use.ask ?? noAnswer));
    const heard = (decided: Decided): void => {
      denials.note(decided);
      onDecided?.(decided);
    };
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const gate = new Gate(rules, {
      decide: decide && ((request) => decide(request, over.signal)),
      onDecided: heard,
      isOwnDoor,
    });
    const proxy = new Proxy(gate, { socks });
    // Whoever may ask can do more than whoever may not.
    const entered = await this.#enter(JSON.stringify([rules, decide !== undefined]), [proxy]);
    const [port = 0] = entered.ports;
    // Inside, loopback is the sandboxes' own, unless the rules mean that of this machine.
    const variables = proxyVariables(port, { socks, localIsInside: localIsInside && !gate.namesLoopback });
    const close = (): void => {
      over.abort();
      entered.close();
    };
    return { denials, network: entered.network, variables, close };
  }

  async #openBridges(env: Readonly<Record<string, string>>): Promise<WayOut> {
    const { Bridge, ExistingProxies } = await room();
    const proxies = new ExistingProxies(env);
    const outside = proxies.ports;
    if (outside.length === 0) throw noProxy();
    if (outside.some((port) => isOwnDoor('127.0.0.1', port))) throw noProxy();
    const bridges = outside.map((port) => new Bridge(port));
    const { ports, network, close } = await this.#enter(JSON.stringify(outside), bridges);
    const inside = new Map(outside.map((port, index) => [port, ports[index] ?? 0]));
    return { denials: new NetworkDenials(), network, variables: proxies.variables(inside), close };
  }

  /** Makes each of them answer on a port inside. They are closed with the way out. */
  async #enter(
    key: string,
    servers: readonly PortServer[],
  ): Promise<{ ports: number[]; network: NetworkToJoin; close: () => void }> {
    const { NetworkSpace } = await room();
    const tools = await spaceTools();
    if (this.#closed) throw notManaged();
    const shared = this.#take(key, () => new NetworkSpace(tools));
    const taken: SpacePort[] = [];
    const close = once(() => {
      for (const server of servers) server.close();
      for (const { release } of taken) release();
      this.#giveBack(shared);
    });
    try {
      for (const server of servers) taken.push(await shared.space.take((socket) => server.serve(socket)));
      return { ports: taken.map(({ port }) => port), network: shared.space.entrance, close };
    } catch (error) {
      close();
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

/** What a policy says about hosts; undefined if it does not tell them apart. `ask` is for those it does not know. */
export function networkUse({ networkRules }: Sandbox, ask?: AskAboutHost): NetworkUse | undefined {
  if (!networkRules) return undefined;
  const { allow, deny = [] } = networkRules;
  return { rules: { allow, deny }, ...(networkRules.ask ? { ask: ask ?? null } : {}) };
}

const noAnswer: AskAboutHost = () => Promise.resolve(null);

function noProxy(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'A managed network is to be enforced, but no proxy is named that could be the way out. Nothing was run.',
    {
      data: {
        reason: 'managedNetwork',
        hint: 'Send `networkProxy`, or name a proxy on loopback in the variables of the program.',
      },
    },
  );
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
