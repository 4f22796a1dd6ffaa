import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PackedPackage } from '../harness/packed-package.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** As npm reads ranges. The package has no types. */
const satisfies = createRequire(import.meta.url)('semver/functions/satisfies.js') as (
  version: string,
  range: string,
) => boolean;

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly engines?: { readonly node?: string };
}

test('whatever is installed with the package accepts the oldest Node it claims', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const oldest = /^>=(\d+\.\d+)$/.exec(packages['']?.engines?.node ?? '')?.[1];
  const installed = Object.entries(packages).filter(([path, { dev, peer }]) => path !== '' && !dev && !peer);
  expect(installed.length).toBeGreaterThan(20);
  const refusing = installed
    .filter(([, { engines }]) => engines?.node !== undefined && !satisfies(`${oldest}.0`, engines.node))
    .map(([path, { engines }]) => `${path} asks for Node ${engines?.node}`);
  expect(refusing).toEqual([]);
});

test('whatever builds and tests it accepts the oldest Nodes that CONTRIBUTING.md names', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const oldest = /npm ci +# Node (\d+\.\d+), (\d+\.\d+) or newer/.exec(guide)?.slice(1) ?? [];
  expect(oldest).toHaveLength(2);
  const refusing = oldest.flatMap((version) =>
    Object.entries(packages)
      .filter(([, { engines }]) => engines?.node !== undefined && !satisfies(`${version}.0`, engines.node))
      .map(([path]) => `${path} on ${version}`),
  );
  // It says so, and runs there all the same.
  expect(refusing).toEqual([`node_modules/@nats-io/nuid on ${oldest[0]}`]);
});

test('a range that asks for more is noticed', () => {
  expect(satisfies('20.10.0', '>= 20.19.0')).toBe(false);
  expect(satisfies('20.10.0', '^16 || ^18 || >=20')).toBe(true);
});

describe('sealing for a registry comes with the package', () => {
  const nodes = [process.execPath, process.env['EXECWIRE_OLDEST_NODE']].filter((path) => path !== undefined);
  let packed: PackedPackage;
  beforeAll(() => {
    packed = new PackedPackage();
  }, 120_000);
  afterAll(() => packed[Symbol.dispose]());

  test.each(nodes)('with %s', async (node) => {
    const program = join(packed.path, 'bin/execwire.js');
    const bearer = (kind: string): { file: string; entry: string } => {
      const file = join(packed.project, `${kind}.token`);
      writeFileSync(file, `token-of-the-${kind}-0123456789abcdef`);
      const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
      return {
        file,
        entry: `[[${kind}]]\nname = "x"\ntoken_sha256 = "${digest}"\nenvironments = ["a"]\n`,
      };
    };
    const [machine, client] = [bearer('executors'), bearer('clients')];
    const tokens = join(packed.project, 'registry.toml');
    writeFileSync(tokens, machine.entry + client.entry);
    const registry = start(node, [program, 'gateway', '--registry', tokens, '--listen', 'ws://127.0.0.1:0']);
    const url = (await registry.firstLine).replace('ws', 'http');
    const joining = ['--remote', url, '--environment-id', 'a', '--remote-token-file', machine.file];
    const server = start(node, [program, 'serve', ...joining]);
    try {
      const address = await server.firstLine;
      const run = [program, 'run', '-e', address, '--token-file', client.file, '--', 'echo', 'hi'];
      expect(execFileSync(node, run, { encoding: 'utf8', timeout: 20_000 })).toBe('hi\n');
    } finally {
      await Promise.all([server.stop(), registry.stop()]);
    }
  });
});

function start(node: string, args: string[]): { firstLine: Promise<string>; stop: () => Promise<void> } {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const firstLine = once(createInterface(child.stdout), 'line').then(([line]) => String(line));
  return {
    firstLine: Promise.race([
      firstLine,
      gone.then(([code]) => Promise.reject(new Error(`${args[1]} ended with ${code}`))),
    ]),
    stop: async () => {
      child.kill('SIGTERM');
      await gone;
    },
  };
}
