import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readlinkSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ExecError } from '../../protocol/errors.js';
import { packageFile } from '../kernel/package-file.js';

/** Ports opened at a time: each program under rules of its own takes one while it runs. */
const BATCH = 16;

/** Node starts in a tenth of a second. On a machine without room for its threads it may hang for ever. */
const OPEN_LIMIT_MS = 15_000;

const EXIT_LIMIT_MS = 2_000;

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
  /** Ends the connections of whoever had it; another program may get it. */
  readonly release: () => void;
}

/** The way into a network. */
export interface Entrance {
  /** Arguments of `nsenter`. */
  readonly enter: readonly string[];
}

interface OpenPort {
  readonly port: number;
  readonly server: Server;
}

/** Descriptors that keep the namespaces alive while nobody is in them. The user's is null if it is our own. */
interface Namespaces {
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
    open.server.removeAllListeners('connection').on('connection', serve);
    return {
      port: open.port,
      release: () => {
        open.server.removeAllListeners('connection').on('connection', turnAway);
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
    const script = this.#tools.script ?? fileURLToPath(packageFile('dist/host/network/listeners-main.js'));
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

/** Until it is gone it may still accept connections on the ports it made, and leave them without an answer. */
async function dismissed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => void child.once('exit', resolve));
  // It exits then, and bubblewrap after it.
  if (child.connected) child.disconnect();
  const limit = setTimeout(() => child.kill('SIGKILL'), EXIT_LIMIT_MS);
  await gone;
  clearTimeout(limit);
}

/** The helper waits inside until it is dismissed. bubblewrap, our child, stays outside. */
function portsFrom(child: ChildProcess): Promise<{ pid: number; ports: OpenPort[] }> {
  const ports: OpenPort[] = [];
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-1_000)));
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(limit);
      for (const { server } of ports) server.close();
      child.kill('SIGKILL');
      reject(unavailable(said.trim() || why));
    };
    const limit = setTimeout(() => fail('it took too long'), OPEN_LIMIT_MS);
    child.on('error', (error) => fail(error.message));
    child.on('exit', () => fail('its helper ended'));
    child.on('message', ({ pid, port }: { pid: number; port: number }, server: unknown) => {
      ports.push({ port, server: prepared(server as Server) });
      if (ports.length < BATCH) return;
      clearTimeout(limit);
      child.removeAllListeners();
      resolve({ pid, ports });
    });
  });
}

/** Until somebody takes its port, nobody inside is answered. */
function prepared(server: Server): Server {
  // Not in its type, yet read for each connection: an end of one direction must not end the other.
  (server as Server & { allowHalfOpen: boolean }).allowHalfOpen = true;
  return server
    .on('connection', turnAway)
    .on('error', () => undefined)
    .unref();
}

function turnAway(socket: Socket): void {
  socket.destroy();
}

function namespacesOf(pid: number): Namespaces {
  const isOurs = readlinkSync(`/proc/${pid}/ns/user`) === readlinkSync('/proc/self/ns/user');
  const net = openSync(`/proc/${pid}/ns/net`, 'r');
  return { net, user: isOurs ? null : openSync(`/proc/${pid}/ns/user`, 'r') };
}

/** By our own descriptors, which nobody can replace. */
function entranceOf({ net, user }: Namespaces): Entrance {
  const path = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;
  const users = user === null ? [] : [`--user=${path(user)}`, '--preserve-credentials'];
  return { enter: [...users, `--net=${path(net)}`] };
}

function unavailable(why: string): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'No network could be set up for a sandbox, so nothing was run.',
    {
      data: {
        reason: 'managedNetwork',
        hint: 'See whether `execwire doctor` finds sandboxes in order.',
        why,
      },
    },
  );
}
