import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { socketDescriptor } from '../kernel/index.js';
import { packageFile } from '../kernel/package-file.js';
import { BATCH, dismissed, type OpenPort, portsFrom, prepared, turnAway, unavailable } from './open-ports.js';

/** What it takes to open a network namespace, and to enter it later. */
export interface SpaceTools {
  readonly bwrap: string;
  readonly nsenter: string;
  /** bubblewrap has to be told to make a user namespace around it. */
  readonly userNamespace: boolean;
  /** The script that opens ports inside. Default: ours. */
  readonly script?: string;
}

/** A port inside, and who answers there. */
export interface SpacePort {
  readonly port: number;
  /** Of the listening socket. */
  readonly descriptor: number;
  /** Ends the connections of whoever had it; another program may get it. */
  readonly release: () => void;
}

/** The way into a network. */
export interface Entrance {
  /** Arguments of `nsenter`. */
  readonly enter: readonly string[];
}

/** Descriptors that keep the namespaces alive while nobody is in them. The user's is null if it is our own. */
export interface Namespaces {
  readonly net: number;
  readonly user: number | null;
}

/**
 * A network for sandboxes: its own loopback, and no way out but the ports we answer on. No process of ours stays inside:
 * the namespace is held by a descriptor, its ports are sockets of this process.
 */
export class NetworkSpace {
  readonly #tools: SpaceTools;
  readonly #free: OpenPort[] = [];
  readonly #servers = new Set<Server>();
  #namespaces: Namespaces | null = null;
  #entrance: Entrance | null = null;
  #opening: Promise<void> | null = null;
  #closed = false;

  constructor(tools: SpaceTools) {
    this.#tools = tools;
  }

  /** A network that another server has made. Owns the descriptors. */
  static adopt(tools: SpaceTools, namespaces: Namespaces): NetworkSpace {
    const space = new NetworkSpace(tools);
    space.#namespaces = namespaces;
    space.#entrance = entranceOf(namespaces);
    return space;
  }

  /** What another server needs to continue with this network, once there is a port. */
  get namespaces(): Namespaces {
    if (this.#namespaces === null) throw unavailable('there is none');
    return this.#namespaces;
  }

  /** True if these are the namespaces of this network. */
  isAt({ net }: Namespaces): boolean {
    return this.#namespaces !== null && isSameFile(net, this.#namespaces.net);
  }

  /** How to get in, once there is a port. Always the same object: whatever is kept for it is kept for this network. */
  get entrance(): Entrance {
    if (this.#entrance === null) throw unavailable('there is none');
    return this.#entrance;
  }

  /** Takes a port, on which `serve` answers from now on. */
  async take(serve: (socket: Socket) => void): Promise<SpacePort> {
    while (this.#free.length === 0) {
      if (this.#closed) throw unavailable('it was closed');
      this.#opening ??= this.#openPorts().finally(() => void (this.#opening = null));
      await this.#opening;
    }
    const open = this.#free.pop();
    if (open === undefined) throw unavailable('it has no port');
    return this.#serve(open, serve);
  }

  /** Continues to answer on a port that another server has opened here. Owns the descriptor. */
  async adoptPort(socket: number, serve: (socket: Socket) => void): Promise<SpacePort> {
    const server = prepared(createServer());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ fd: socket }, resolve);
    });
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    if (this.#closed) server.close();
    else this.#servers.add(server);
    return this.#serve({ port, server }, serve);
  }

  #serve(open: OpenPort, serve: (socket: Socket) => void): SpacePort {
    const { port, server } = open;
    server.removeAllListeners('connection').on('connection', serve);
    return {
      port,
      descriptor: socketDescriptor(server) ?? -1,
      release: () => {
        server.removeAllListeners('connection').on('connection', turnAway);
        if (!this.#closed && !this.#free.includes(open)) this.#free.push(open);
      },
    };
  }

  /** Programs inside lose their way out. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const server of this.#servers) server.close();
    this.#servers.clear();
    this.#free.length = 0;
    this.#forget();
  }

  #forget(): void {
    const { net, user } = this.#namespaces ?? {};
    this.#namespaces = null;
    this.#entrance = null;
    for (const fd of [net, user]) if (fd !== undefined && fd !== null) closeSync(fd);
  }

  async #openPorts(): Promise<void> {
    const child = this.#startHelper();
    try {
      const { pid, ports } = await portsFrom(child);
      this.#namespaces ??= namespacesOf(pid);
      this.#entrance ??= entranceOf(this.#namespaces);
      await dismissed(child);
      if (this.#closed) {
        for (const { server } of ports) server.close();
        this.#forget();
        return;
      }
      for (const { server } of ports) this.#servers.add(server);
      this.#free.push(...ports);
    } finally {
      await dismissed(child);
    }
  }

  /** The first one makes the namespace, others enter it. */
  #startHelper(): ChildProcess {
    const { bwrap, nsenter, userNamespace } = this.#tools;
    const script = this.#tools.script ?? fileURLToPath(packageFile('dist/programs/listeners.js'));
    const around =
      this.#entrance === null
        ? [
            bwrap,
            ...(userNamespace ? ['--unshare-user'] : []),
            '--unshare-net',
            '--dev-bind',
            '/',
            '/',
            '--die-with-parent',
          ]
        : [nsenter, ...this.#entrance.enter];
    const [program, ...argv] = [...around, '--', process.execPath, script, String(BATCH)];
    return spawn(program, argv, { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  }
}

function namespacesOf(pid: number): Namespaces {
  const isOurs = readlinkSync(`/proc/${pid}/ns/user`) === readlinkSync('/proc/self/ns/user');
  const net = openSync(`/proc/${pid}/ns/net`, 'r');
  return { net, user: isOurs ? null : openSync(`/proc/${pid}/ns/user`, 'r') };
}

function isSameFile(a: number, b: number): boolean {
  const [one, other] = [fstatSync(a), fstatSync(b)];
  return one.dev === other.dev && one.ino === other.ino;
}

/** By our own descriptors, which nobody can replace. */
function entranceOf({ net, user }: Namespaces): Entrance {
  const path = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;
  const users = user === null ? [] : [`--user=${path(user)}`, '--preserve-credentials'];
  return { enter: [...users, `--net=${path(net)}`] };
}
