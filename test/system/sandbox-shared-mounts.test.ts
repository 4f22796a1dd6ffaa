// Needs: bwrap
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

/** A part of each kind: as a library, over a server, with placeholders, and what tries to get out. */
const part = [
  'test/system/sandbox-leaving.test.ts',
  'test/system/sandbox-placeholder.test.ts',
  'test/system/sandbox-start.test.ts',
  'test/host/sandbox/escape.test.ts',
];

/** Puts a program among mounts of its own that are passed on, as all are where systemd made them. Those outside stay as they are. */
const amongSharedMounts =
  process.getuid?.() === 0
    ? ['unshare', '--mount', 'sh', '-c', 'mount --make-rshared / && exec "$@"', 'sh']
    : ['unshare', '--user', '--map-current-user', '--mount', '--propagation', 'shared'];

async function run(...command: string[]): Promise<{ code: number | null; said: string }> {
  const [program = '', ...args] = [...amongSharedMounts, ...command];
  // What tells a worker of vitest who it is would confuse another vitest.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

test('mounts are passed on where the next test runs', async () => {
  const { said } = await run('findmnt', '--noheadings', '--output', 'PROPAGATION', '/');
  expect(said.trim()).toMatch(/^shared/);
});

test('the sandbox holds where mounts are passed on', { timeout: 240_000 }, async () => {
  const { code, said } = await run(process.execPath, vitest, 'run', '--reporter=dot', ...part);
  // With what it said, so that a failure can be understood from here.
  expect(code === 0 ? 'passed' : said).toBe('passed');
});
