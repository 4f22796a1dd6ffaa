import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './harness.js';

/** Tries to get out and prints what it met. */
export const hostileProgram = fileURLToPath(new URL('hostile.mjs', import.meta.url));

/** Servers of the host that nobody inside may reach. Counts who did. */
export class Host implements AsyncDisposable {
  readonly #servers: Server[] = [];
  readonly #udp = createSocket('udp4');
  readonly abstractName: string;
  readonly socketPath: string;
  port = 0;
  visitors = 0;

  constructor(place: Place) {
    this.socketPath = join(place.base, 'host.sock');
    this.abstractName = `execwire-test-${place.base}`;
  }

  async open(): Promise<void> {
    const tcp = await this.#listen({ port: 0, host: '127.0.0.1' });
    const address = tcp.address();
    this.port = typeof address === 'object' && address ? address.port : 0;
    await this.#listen({ path: this.socketPath });
    chmodSync(this.socketPath, 0o777);
    await this.#listen({ path: `\0${this.abstractName}` });
    this.#udp.on('message', () => (this.visitors += 1)).bind(this.port, '127.0.0.1');
    await once(this.#udp, 'listening');
  }

  async #listen(where: object): Promise<Server> {
    const server = createServer((socket) => {
      this.visitors += 1;
      socket.destroy();
    }).listen(where);
    this.#servers.push(server);
    await once(server, 'listening');
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp.close();
    for (const server of this.#servers) {
      server.close();
      await once(server, 'close');
    }
  }
}

/** What every attempt must meet, whoever tries. A list: the kernel checks in another order for root. */
export const expected: Record<string, readonly string[]> = {
  capabilities: ['noNewPrivileges'],
  sharedNamespaces: [''],
  writeInside: ['allowed'],
  writeOutside: ['EROFS'],
  overwriteOutside: ['EROFS'],
  removeOutside: ['EROFS'],
  chmodOutside: ['EROFS'],
  throughLink: ['EROFS'],
  throughDotDot: ['EROFS'],
  throughHardLink: ['EXDEV'],
  renameInto: ['EXDEV'],
  throughProcRoot: ['EROFS'],
  throughInitRoot: ['ENOENT'],
  descriptorsOfInit: ['ENOENT'],
  takeFromInit: ['EPERM'],
  traceInit: ['EPERM'],
  readInit: ['EPERM'],
  writeInit: ['EPERM'],
  traceOwn: ['ESRCH'],
  corePattern: ['EROFS', 'EACCES'],
  sysrq: ['EROFS', 'EACCES', 'ENOENT'],
  sysfs: ['EROFS', 'EACCES'],
  remountRoot: ['EPERM'],
  remountOutside: ['EPERM'],
  uncoverProtected: ['EPERM'],
  newUserNamespace: ['EPERM'],
  cloneNamespace: ['EPERM'],
  // The filter answers before the kernel sees that the descriptor is none.
  joinNamespace: ['EPERM'],
  clone3: ['ENOSYS'],
  openTree: ['EPERM'],
  ioUring: ['EPERM'],
  keyring: ['EPERM'],
  signalHost: ['ESRCH'],
  traceHost: ['ESRCH'],
  tcp: ['ECONNREFUSED'],
  // Sent to a loopback of its own, where nobody listens.
  udp: ['sent'],
  dns: ['ENOTFOUND', 'EAI_AGAIN'],
  unixSocket: ['EPERM'],
  abstractSocket: ['EPERM'],
  datagramPair: ['EPERM'],
  streamPair: ['allowed'],
  hypervisorSocket: ['EPERM'],
  writeProtected: ['EROFS'],
  addToProtected: ['EROFS'],
  renameProtected: ['EBUSY'],
  createMissing: ['EEXIST'],
  fillMissing: ['EROFS'],
  removeMissing: ['EBUSY'],
  replaceMissing: ['EBUSY', 'EROFS'],
  linkOverMissing: ['EEXIST'],
  renameWorkspace: ['EBUSY', 'EROFS'],
};

/** Everything in reach belongs to whoever attacks: only the sandbox stands in the way. */
export function layOut({ outside, workspace }: Place): void {
  writeFileSync(join(outside, 'kept'), 'original', { mode: 0o666 });
  mkdirSync(join(workspace, '.git'), { recursive: true });
  writeFileSync(join(workspace, '.git', 'config'), 'original');
  for (const path of ['', 'config']) chmodSync(join(workspace, '.git', path), 0o777);
  chmodSync(join(outside, 'kept'), 0o666);
}

/** The argv of an attack on a place and the servers beside it. */
export function attackOn({ workspace, outside }: Place, { port, socketPath, abstractName }: Host): string[] {
  const namespaces = Object.fromEntries(
    ['ipc', 'mnt', 'net', 'pid', 'uts'].map((name) => [name, readlinkSync(`/proc/self/ns/${name}`)]),
  );
  const places = { workspace, outside, port, socketPath, abstractName, hostPid: process.pid, namespaces };
  return [process.execPath, hostileProgram, JSON.stringify(places)];
}

/** The attempts that met something else than they should have. */
export function surprises(met: Readonly<Record<string, string>>): [string, string | undefined][] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(met)])];
  return names
    .map((name): [string, string | undefined] => [name, met[name]])
    .filter(([name, said]) => said === undefined || !expected[name]?.includes(said));
}
