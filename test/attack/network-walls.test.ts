import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { type Identity, identities } from '../host/sandbox/harness.js';
import { tally } from './tally.js';

const LIMIT_MS = 120_000;
const program = fileURLToPath(new URL('programs/leave-network.mjs', import.meta.url));

/** Listens wherever somebody inside might get to, and says who did. */
const WITNESS = `
  const net = require('net'), dgram = require('dgram');
  const heard = (bytes) => console.log('heard ' + String(bytes).split('\\n')[0].trim());
  const answer = (socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => { heard(bytes); socket.end('HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nwitness'); });
  };
  const [path, abstract] = process.argv.slice(1);
  const tcp = net.createServer(answer).listen(0, '::', () => {
    const udp = dgram.createSocket('udp6').on('message', heard).bind(0, '::', () => {
      net.createServer(answer).listen(path, () => net.createServer(answer).listen('\\0' + abstract, () => {
        require('fs').chmodSync(path, 0o777);
        console.log(JSON.stringify({ port: tcp.address().port, udp: udp.address().port }));
      }));
    });
  });`;

class Witness {
  readonly port: number;
  readonly udp: number;
  readonly #child: ChildProcess;
  #said = '';

  private constructor(child: ChildProcess, { port, udp }: { port: number; udp: number }) {
    this.#child = child;
    this.port = port;
    this.udp = udp;
    child.stdout?.on('data', (bytes: Buffer) => void (this.#said += bytes.toString()));
  }

  static async start(path: string, abstract: string): Promise<Witness> {
    const child = spawn(process.execPath, ['-e', WITNESS, path, abstract], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return new Witness(child, JSON.parse(line.toString()) as { port: number; udp: number });
  }

  /** Everything that got through. */
  async heard(): Promise<string[]> {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'close');
    return this.#said.split('\n').filter((line) => line.startsWith('heard '));
  }
}

/** Loopback in every spelling there is. */
const LOOPBACK = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0',
  '0.0.0.0',
  '１２７.0.0.1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
];
const NAMES = [
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  hostname(),
  '127.0.0.1%00.example.com',
  '%31%32%37.0.0.1',
];

/** Of the machine itself, as its neighbours know it. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
    .map(({ address }) => address);
}

async function attack(
  identity: Identity,
  networkRules: (port: number) => object,
  { confuse = false }: { confuse?: boolean } = {},
) {
  await using host = await ConfinedServer.start(identity);
  const path = join(host.place.base, 'witness.sock');
  const abstract = `witness-${process.pid}-${identity.name}`;
  const witness = await Witness.start(path, abstract);
  const own = ownAddresses();
  const plan = {
    addresses: [...LOOPBACK, ...own.map((each) => (each.includes(':') ? `[${each}]` : each))],
    names: NAMES,
    direct: ['127.0.0.1', '::1', ...own, '192.0.2.1'],
    port: witness.port,
    udp: witness.udp,
    path,
    abstract,
    door: Number(new URL(host.server.url).port),
    confuse,
  };
  const { text, exit } = await host.run([process.execPath, program, JSON.stringify(plan)], {
    sandbox: host.sandbox({ networkRules: networkRules(witness.port) }),
  });
  const results = JSON.parse(text) as Record<string, string>;
  return { results, exit, heard: await witness.heard() };
}

describe.each(identities)('as $name', (identity) => {
  test('a program that may reach the whole internet does not reach this machine', {
    timeout: LIMIT_MS,
  }, async () => {
    const { results, heard, exit } = await attack(identity, () => ({ allow: ['*'] }), {
      confuse: true,
    });
    const got = Object.entries(results).filter(([, said]) => /witness|101 Switching/.test(said));
    tally(`network walls, everything allowed, ${identity.name}`, {
      tries: Object.keys(results).length,
      successes: Math.max(heard.length, got.length),
    });
    expect(Object.keys(results).length).toBeGreaterThan(150);
    expect(heard).toEqual([]);
    expect(got).toEqual([]);
    expect(exit).toMatchObject({ networkDenied: expect.arrayContaining([]) });
  });

  test('one port of this machine is one port, under its name alone', { timeout: LIMIT_MS }, async () => {
    const { results, heard } = await attack(identity, (port) => ({
      allow: [`127.0.0.1:${port}`, 'localhost:1'],
    }));
    // What is named is reached: a wall without a door would hold everything.
    expect(results['get 127.0.0.1']).toContain('witness');
    const names = heard.map((line) => decodeURIComponent(/\/(\S+) HTTP/.exec(line)?.[1] ?? line));
    const isIt = (name: string): boolean => SPELLINGS.some((host) => name.endsWith(` ${host}`));
    expect(names.filter((name) => !isIt(name) && !ALSO_IT.includes(name))).toEqual([]);
    expect(results['the door of our server']).not.toContain('101');
  });
});

/** Of the one address that is allowed. */
const SPELLINGS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '１２７.0.0.1',
];

/** Other ways to say the one host that is allowed. */
const ALSO_IT = ['no target at all', 'an upgrade', 'socks to an address', 'a request behind a refused one'];

test('nothing is reached any more when the program has ended', async () => {
  const [identity] = identities;
  if (!identity) throw new Error('nobody to attack as');
  await using host = await ConfinedServer.start(identity);
  const witness = await Witness.start(join(host.place.base, 'w.sock'), `witness-late-${process.pid}`);
  // A tunnel that is open when its program ends, held by one that it leaves behind.
  const script = `exec 3<>/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:}
    printf 'CONNECT 127.0.0.1:${witness.port} HTTP/1.1\\r\\n\\r\\n' >&3
    read -r status <&3; echo "$status"
    (setsid sh -c 'sleep 1; printf "GET /late HTTP/1.1\\r\\n\\r\\n" >&3' >/dev/null 2>&1 &)`;
  const { text } = await host.run(['/bin/bash', '-c', script], {
    sandbox: host.sandbox({ networkRules: { allow: [`127.0.0.1:${witness.port}`] } }),
  });
  expect(text).toContain('200');
  await expect.poll(async () => (await host.client.call('process/list')).processes).toHaveLength(1);
  await new Promise((resolve) => void setTimeout(resolve, 1_500));
  expect(await witness.heard()).toEqual([]);
});
