import type { Socket } from 'node:net';
import { type KeptEgress, egressDescriptors } from './kept-egress.js';
import { trustedProgram } from './kernel/index.js';
import type { AskAboutHost, HostAnswers, NetworkSpace, SpacePort, SpaceTools } from './network/index.js';
import { NetworkDenials } from './network-denials.js';
import { sandboxSupport } from './sandbox/index.js';
import { type SharedSpace, SharedSpaces } from './shared-spaces.js';
import type { BridgeUse, ExistingProxyUse, NetworkUse, Egress, EgressOptions } from './egress.js';
import { type Answering, bridgesTo, networkRoom, type PortServer, ruledProxy } from './egress-servers.js';
import { ExecError } from '../protocol/errors.js';
import type { Sandbox } from '../protocol/index.js';

/** A network whose questions are answered. */
type Entered = Pick<Egress, 'network' | 'descriptors' | 'close'> & { readonly ports: number[] };

type Place = (space: NetworkSpace, serve: (socket: Socket) => void, index: number) => Promise<SpacePort>;

/**
 * The networks of one owner's managed programs. Those with the same rules share one, and reach each other. Others must not:
 * each could leave through the proxy of the one that may do more.
 */
export class ManagedNetwork {
  readonly #spaces = new SharedSpaces();
  /** What the owner said about hosts. */
  #answers: HostAnswers | undefined;
  /** Networks that are being continued: new programs may belong into one of them. */
  #adopting: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** Throws `sandboxUnavailable` if it cannot be enforced, `invalidParams` if the rules cannot be understood. */
  async open(use: NetworkUse | ExistingProxyUse, { env, onDenied }: EgressOptions): Promise<Egress> {
    await this.#adopting;
    if ('existingProxy' in use) return await this.#openBridges(env);
    return await this.#openProxy(use, env, new NetworkDenials(onDenied));
  }

  /**
   * Answers again where an earlier server has answered; connections from inside wait for that. Resolves to a function that
   * ends it. Owns the descriptors; if it fails, the program cannot reach the network.
   */
  adopt(use: NetworkUse | BridgeUse, kept: KeptEgress, denials: NetworkDenials): Promise<() => void> {
    const adopted = this.#adopting.then(() => this.#adopt(use, kept, denials));
    this.#adopting = adopted.catch(() => kept.close());
    return adopted;
  }

  close(): void {
    this.#closed = true;
    this.#spaces.close();
  }

  async #adopt(use: NetworkUse | BridgeUse, kept: KeptEgress, denials: NetworkDenials): Promise<() => void> {
    const { NetworkSpace } = await networkRoom();
    const tools = await spaceTools();
    const answering = 'bridges' in use ? await bridgesTo(use.bridges) : await this.#proxy(use, denials);
    if (this.#closed) throw notManaged();
    const shared = this.#spaces.acquire(answering.key, () =>
      NetworkSpace.adopt(tools, kept.takeNamespaces()),
    );
    if (!kept.isIn(shared.space)) {
      this.#spaces.release(shared);
      throw notManaged();
    }
    const entered = await this.#enter(shared, answering.servers, (space, serve, index) =>
      space.adoptPort(kept.takeSocket(index), serve),
    );
    kept.close();
    return entered.close;
  }

  async #openProxy(use: NetworkUse, env: EgressOptions['env'], denials: NetworkDenials): Promise<Egress> {
    const { socks, localIsInside = true } = use;
    const { proxyVariables } = await networkRoom();
    const { key, servers, namesLoopback } = await this.#proxy(use, denials);
    const { ports, ...egress } = await this.#enterNew({ key, servers });
    const [port = 0] = ports;
    // Inside, loopback is the sandboxes' own, unless the rules mean that of this machine.
    const variables = proxyVariables(port, { env, socks, localIsInside: localIsInside && !namesLoopback });
    return { ...egress, denials, variables, bridges: [] };
  }

  async #proxy(use: NetworkUse, denials: NetworkDenials): ReturnType<typeof ruledProxy> {
    const { HostAnswers } = await networkRoom();
    this.#answers ??= new HostAnswers();
    return await ruledProxy(use, denials, this.#answers);
  }

  async #openBridges(env: Readonly<Record<string, string>>): Promise<Egress> {
    const { ExistingProxies } = await networkRoom();
    const proxies = new ExistingProxies(env);
    const bridges = proxies.ports;
    const { ports, ...egress } = await this.#enterNew(await bridgesTo(bridges));
    const inside = new Map(bridges.map((port, index) => [port, ports[index] ?? 0]));
    return { ...egress, denials: new NetworkDenials(), variables: proxies.variables(inside), bridges };
  }

  async #enterNew({ key, servers }: Answering): Promise<Entered> {
    const { NetworkSpace } = await networkRoom();
    const tools = await spaceTools();
    if (this.#closed) throw notManaged();
    const shared = this.#spaces.acquire(key, () => new NetworkSpace(tools));
    return await this.#enter(shared, servers, (space, serve) => space.take(serve));
  }

  /** Makes each of them answer on a port inside. They are closed with the egress. */
  async #enter(shared: SharedSpace, servers: readonly PortServer[], place: Place): Promise<Entered> {
    const { space } = shared;
    const taken: SpacePort[] = [];
    const close = once(() => {
      for (const server of servers) server.close();
      for (const { release } of taken) release();
      this.#spaces.release(shared);
    });
    try {
      for (const [index, server] of servers.entries())
        taken.push(await place(space, (socket) => server.serve(socket), index));
      const descriptors = egressDescriptors(space.namespaces, taken);
      return { ports: taken.map(({ port }) => port), network: space.entrance, descriptors, close };
    } catch (error) {
      close();
      throw error;
    }
  }
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

async function spaceTools(): Promise<SpaceTools> {
  const support = await sandboxSupport();
  const nsenter = trustedProgram('nsenter');
  if (!support.available || nsenter === null) throw notManaged();
  return { bwrap: support.bwrap, nsenter, userNamespace: support.userNamespace };
}

function once(task: () => void): () => void {
  let done = false;
  return () => {
    if (!done) task();
    done = true;
  };
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
