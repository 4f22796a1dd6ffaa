import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Identity, identities, Place, run, workspacePolicy } from './harness.js';

const hostile = fileURLToPath(new URL('hostile.mjs', import.meta.url));

/** Servers of the host that nobody inside may reach. Counts who did. */
class Host implements AsyncDisposable {
  readonly #servers: Server[] = [];
  readonly #udp = createSocket('udp4');
  readonly abstractName = `execwire-test-${process.pid}`;
  readonly socketPath: string;
  port = 0;
  visitors = 0;

  constructor(base: string) {
    this.socketPath = join(base, 'host.sock');
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
const expected: Record<string, readonly string[]> = {
  capabilities: ['noNewPrivileges'],
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
  throughInitRoot: ['EROFS', 'EACCES'],
  corePattern: ['EROFS', 'EACCES'],
  sysrq: ['EROFS', 'EACCES', 'ENOENT'],
  sysfs: ['EROFS', 'EACCES'],
  remountRoot: ['EPERM'],
  remountOutside: ['EPERM'],
  uncoverProtected: ['EPERM'],
  newUserNamespace: ['EPERM'],
  cloneNamespace: ['EPERM'],
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

describe.each(identities)('a hostile program as $name', (identity: Identity) => {
  const place = new Place(identity);
  const host = new Host(place.base);
  beforeAll(() => host.open());
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  const setUp = () => {
    writeFileSync(join(place.outside, 'kept'), 'original', { mode: 0o666 });
    mkdirSync(join(place.workspace, '.git'), { recursive: true });
    writeFileSync(join(place.workspace, '.git', 'config'), 'original');
    for (const path of ['', 'config']) chmodSync(join(place.workspace, '.git', path), 0o777);
    chmodSync(join(place.outside, 'kept'), 0o666);
  };
  const attack = async (network: 'restricted' | 'enabled') => {
    setUp();
    const { workspace, outside } = place;
    const { port, socketPath, abstractName } = host;
    const places = { workspace, outside, port, socketPath, abstractName, hostPid: process.pid };
    const finished = await run(identity, workspacePolicy(workspace, { network }), {
      argv: [process.execPath, hostile, JSON.stringify(places)],
      cwd: workspace,
    });
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    return JSON.parse(finished.stdout) as Record<string, string>;
  };

  test('meets the policy at every turn', async () => {
    const met = await attack('restricted');
    const surprises = Object.entries(met).filter(([name, said]) => !expected[name]?.includes(said));
    expect(surprises).toEqual([]);
    expect(Object.keys(met)).toEqual(Object.keys(expected));
    expect(host.visitors).toBe(0);
    expect(readdirSync(place.outside)).toEqual(['kept']);
    expect(readFileSync(join(place.outside, 'kept'), 'utf8')).toBe('original');
    expect(readFileSync(join(place.workspace, '.git', 'config'), 'utf8')).toBe('original');
    expect(readdirSync(place.workspace).sort()).toEqual(['.git', 'inside', 'mine', 'way-out']);
  });

  test('reaches the network and nothing else when the policy enables it', async () => {
    const met = await attack('enabled');
    const { tcp, unixSocket, abstractSocket, datagramPair, writeOutside } = met;
    expect({ tcp, unixSocket, abstractSocket, datagramPair, writeOutside }).toEqual({
      tcp: 'allowed',
      unixSocket: 'EPERM',
      abstractSocket: 'EPERM',
      datagramPair: 'EPERM',
      writeOutside: 'EROFS',
    });
  });
});
