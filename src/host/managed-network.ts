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
  Proxy,
  SpacePort,
  SpaceTools,
} from './network/index.js';
import { type KeptWay, wayDescriptors } from './kept-way.js';
import { NetworkDenials } from './network-denials.js';
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
  /** Where existing proxies listen that it leads to. */
  readonly bridges: readonly number[];
  /** What another server needs to continue with it. They stay ours. */
  readonly descriptors: Readonly<Record<string, number>>;
  /** Ends every connection. Idempotent. */
  close(): void;
}

/** Existing proxies, by the ports they listen on. */
export interface BridgeUse {
  readonly bridges: readonly number[];
}

/** Who answers inside, on a port each. */
interface Answering {
  /** Programs with the same one share a network. */
  readonly key: string;
  readonly servers: readonly PortServer[];
}

/** A network that somebody answers in. */
type Entered = Pick<WayOut, 'network' | 'descriptors' | 'close'> & { readonly ports: number[] };

type Place = (space: NetworkSpace, serve: (socket: Socket) => void, index: number) => Promise<SpacePort>;

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
  /** Networks that are being continued: new programs may belong into one of them. */
  #adopting: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** Throws `sandboxUnavailable` if it cannot be enforced, `invalidParams` if the rules cannot be understood. */
  async open(use: NetworkUse | ExistingProxyUse, { env, onDenied }: WayOutOptions): Promise<WayOut> {
    await this.#adopting;
    if ('existingProxy' in use) return await this.#openBridges(env);
    return await this.#openProxy(use, new NetworkDenials(onDenied));
  }

  /**
   * Answers again where an earlier server has answered; connections from inside wait for that. Resolves to a function that
   * ends it. Owns the descriptors; if it fails, the program has no way out.
   */
  adopt(use: NetworkUse | BridgeUse, kept: KeptWay, denials: NetworkDenials): Promise<() => void> {
    const adopted = this.#adopting.then(() => this.#adopt(use, kept, denials));
    this.#adopting = adopted.catch(() => kept.close());
    return adopted;
  }

  async #adopt(use: NetworkUse | BridgeUse, kept: KeptWay, denials: NetworkDenials): Promise<() => void> {
    const { NetworkSpace } = await room();
    const tools = await spaceTools();
    const answering = 'bridges' in use ? await bridged(use.bridges) : await this.#answering(use, denials);
    if (this.#closed) throw notManaged();
    const shared = this.#take(answering.key, () => NetworkSpace.adopt(tools, kept.takeNamespaces()));
    if (!kept.isIn(shared.space)) {
      this.#giveBack(shared);
      throw notManaged();
    }
    const entered = await this.#enter(shared, answering.servers, (space, serve, index) =>
      space.adoptPort(kept.takeSocket(index), serve),
    );
    kept.close();
    return entered.close;
  }

  async #openProxy(use: NetworkUse, denials: NetworkDenials): Promise<WayOut> {
    const { socks, localIsInside = true } = use;
    const { proxyVariables } = await room();
    const { key, servers, namesLoopback } = await this.#answering(use, denials);
    const { ports, ...way } = await this.#enterNew({ key, servers });
    const [port = 0] = ports;
    // Inside, loopback is the sandboxes' own, unless the rules mean that of this machine.
    const variables = proxyVariables(port, { socks, localIsInside: localIsInside && !namesLoopback });
    return { ...way, denials, variables, bridges: [] };
  }

  /** The proxy for one program. */
  async #answering(
    use: NetworkUse,
    denials: NetworkDenials,
  ): Promise<Answering & { readonly namesLoopback: boolean }> {
    const { rules, onDecided, socks } = use;
    const { Gate, HostAnswers, Proxy } = await room();
    this.#answers ??= new HostAnswers();
    const decide =
      use.decide ?? (use.ask === undefined ? undefined : this.#answers.decider(use.ask ?? noAnswer));
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const gate = new Gate(rules, {
      decide: decide && ((request) => decide(request, over.signal)),
      onDecided: (decided) => {
        denials.note(decided);
        onDecided?.(decided);
      },
      isOwnDoor,
    });
    const proxy = new Proxy(gate, { socks });
    // Whoever may ask can do more than whoever may not.
    const key = JSON.stringify([rules, decide !== undefined]);
    return { key, servers: [endingWith(proxy, over)], namesLoopback: gate.namesLoopback };
  }

  async #openBridges(env: Readonly<Record<string, string>>): Promise<WayOut> {
    const { ExistingProxies } = await room();
    const proxies = new ExistingProxies(env);
    const bridges = proxies.ports;
    const { ports, ...way } = await this.#enterNew(await bridged(bridges));
    const inside = new Map(bridges.map((port, index) => [port, ports[index] ?? 0]));
    return { ...way, denials: new NetworkDenials(), variables: proxies.variables(inside), bridges };
  }

  async #enterNew({ key, servers }: Answering): Promise<Entered> {
    const { NetworkSpace } = await room();
    const tools = await spaceTools();
    if (this.#closed) throw notManaged();
    const shared = this.#take(key, () => new NetworkSpace(tools));
    return await this.#enter(shared, servers, (space, serve) => space.take(serve));
  }

  /** Makes each of them answer on a port inside. They are closed with the way out. */
  async #enter(shared: SharedSpace, servers: readonly PortServer[], place: Place): Promise<Entered> {
    const { space } = shared;
    const taken: SpacePort[] = [];
    const close = once(() => {
      for (const server of servers) server.close();
      for (const { release } of taken) release();
      this.#giveBack(shared);
    });
    try {
      for (const [index, server] of servers.entries())
        taken.push(await place(space, (socket) => server.serve(socket), index));
      const descriptors = wayDescriptors(space.namespaces, taken);
      return { ports: taken.map(({ port }) => port), network: space.entrance, descriptors, close };
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

/** Its questions end with it. */
function endingWith(proxy: Proxy, over: AbortController): PortServer {
  return {
    serve: (socket) => proxy.serve(socket),
    close: () => {
      over.abort();
      proxy.close();
    },
  };
}

async function bridged(ports: readonly number[]): Promise<Answering> {
  const { Bridge } = await room();
  if (ports.length === 0 || ports.some((port) => isOwnDoor('127.0.0.1', port))) throw noProxy();
  return { key: JSON.stringify(ports), servers: ports.map((port) => new Bridge(port)) };
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
