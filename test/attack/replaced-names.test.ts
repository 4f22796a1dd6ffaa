import { execFileSync } from 'node:child_process';
import { renameSync, symlinkSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { identities } from '../host/sandbox/harness.js';
import { type Ending, Scene } from './scene.js';
import { tries } from './tally.js';

/** As on machines that systemd started, among mounts of our own. */
const SHARED = ['unshare', '-m', 'sh', '-c', 'mount --make-rshared / && exec "$@"', 'sh'];

const isRoot = process.getuid?.() === 0;
const TRIES = tries(5);

const machines = identities.flatMap((identity) => [
  { title: identity.name, identity, wrapper: [] as string[] },
  ...(isRoot ? [{ title: `${identity.name}, shared mounts`, identity, wrapper: SHARED }] : []),
]);

/**
 * Tries until it is refused, or for some seconds; then says which. An attempt that has a file open at the moment its
 * protection comes back costs the program its life: those who are meant to go on only look, with `[`.
 */
const untilRefused = (attempt: string): string =>
  `n=0; while (${attempt}) 2>/dev/null; do n=$((n+1)); [ $n -lt 400 ] || break; sleep 0.01; done; ` +
  `(${attempt}) 2>/dev/null && echo open || echo refused`;

/** Whoever is caught with something open pays with the program's life, and never gets the secret. */
function expectHeld({ said, exit }: Ending): void {
  if (said.length === 0) expect(exit).toMatchObject({ exitCode: 137, sandboxDenied: true });
  else expect(said).toEqual(['refused']);
}

const denied = (path: string): object => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access: 'deny',
});

describe.concurrent.each(machines)('names replaced while a program runs: $title', ({ identity, wrapper }) => {
  let server: ConfinedServer;
  beforeAll(async () => {
    server = await ConfinedServer.start(identity, { wrapper });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test('a denied file that an editor writes by rename', async () => {
    using scene = new Scene(server, identity);
    scene.write('secret', 'old');
    const { said, exit } = await scene.attack({
      script: untilRefused('[ -s secret ]'),
      entries: [denied(scene.path('secret'))],
      change: () => scene.replace('secret', 'new'),
    });
    expect({ said, code: exit.exitCode }).toEqual({ said: ['refused'], code: 0 });
  });

  test('a file that a pattern hides', async () => {
    using scene = new Scene(server, identity);
    scene.write('key.pem', 'old');
    const { said } = await scene.attack({
      script: untilRefused('[ -s key.pem ]'),
      entries: [{ path: { type: 'glob_pattern', pattern: '**/*.pem' }, access: 'deny' }],
      change: () => scene.replace('key.pem', 'new'),
    });
    expect(said).toEqual(['refused']);
  });

  test('a repository that is removed and made anew', async () => {
    using scene = new Scene(server, identity);
    scene.make('.git', '.git/hooks');
    const { said } = await scene.attack({
      script: untilRefused('[ -w .git/hooks ]'),
      change: () => {
        scene.remove('.git');
        scene.make('.git', '.git/hooks');
      },
    });
    expect(said).toEqual(['refused']);
  });

  test.each(['removed', 'moved aside'])(
    'a program that only has the old repository open goes on: %s',
    async (how) => {
      using scene = new Scene(server, identity);
      scene.make('.git', '.git/refs');
      scene.write('.git/HEAD', 'ref');
      const { said, exit } = await scene.attack({
        before:
          'exec 3<.git/HEAD 4<.git 5<.git/refs; (cd .git/refs && : > ../../there && exec sleep 60) & ' +
          'until [ -e there ]; do sleep 0.01; done; ',
        script: `${untilRefused('[ -w .git ]')}; cat <&3; kill -0 $! && kill -9 $!`,
        change: () => {
          if (how === 'removed') scene.remove('.git');
          else renameSync(scene.path('.git'), scene.path('before'));
          scene.make('.git');
        },
      });
      expect({ said, code: exit.exitCode }).toEqual({ said: ['refused', 'ref'], code: 0 });
    },
  );

  test('a program that reads a protected file, and has it mapped, goes on when that is replaced', async () => {
    using scene = new Scene(server, identity);
    scene.write('.codex', 'old');
    const reader = `
      import mmap, os, time
      file = open('.codex')
      mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
      print('ready', flush=True)
      while not os.path.exists('go'): time.sleep(0.01)
      for _ in range(400):
          if not os.access('.codex', os.W_OK): break
          time.sleep(0.01)
      print(file.read(), mapped[:].decode(), open('.codex').read(), flush=True)`;
    const script = reader.replace(/^ {6}/gm, '');
    const { said, exit } = await scene.run(['python3', '-c', script], {
      change: () => scene.replace('.codex', 'new'),
    });
    expect({ said, code: exit.exitCode }).toEqual({ said: ['old old new'], code: 0 });
  });

  test('a repository that is removed: nobody inside makes another', async () => {
    using scene = new Scene(server, identity);
    scene.make('.git');
    const { said, exit } = await scene.attack({
      script: untilRefused('mkdir -p .git/hooks && touch .git/hooks/new'),
      change: () => scene.remove('.git'),
    });
    expectHeld({ said, exit });
  });

  test('whoever outside removes a file and makes it anew finds nothing in the way', async () => {
    using scene = new Scene(server, identity);
    scene.write('secret', 'old');
    const { said } = await scene.attack({
      script: untilRefused('[ -s secret ]'),
      entries: [denied(scene.path('secret'))],
      change: () => {
        // Not at once: a server that notices the gap must leave it.
        const script = 'rm secret; sleep 0.1; set -C; echo new > secret';
        execFileSync('sh', ['-c', script], { cwd: scene.workspace });
      },
    });
    expect(said).toEqual(['refused']);
  });

  test('a directory above a denied file', async () => {
    using scene = new Scene(server, identity);
    scene.make('sub', 'sub/deep');
    scene.write('sub/deep/secret', 'old');
    const { said } = await scene.attack({
      script: untilRefused('[ -s sub/deep/secret ]'),
      entries: [denied(scene.path('sub/deep/secret'))],
      change: () => {
        renameSync(scene.path('sub'), scene.path('before'));
        scene.make('sub', 'sub/deep');
        scene.write('sub/deep/secret', 'new');
      },
    });
    expect(said).toEqual(['refused']);
  });

  test('again and again', async () => {
    using scene = new Scene(server, identity);
    scene.write('secret', 'old');
    const { said, exit } = await scene.attack({
      script: untilRefused('grep -q . secret'),
      entries: [denied(scene.path('secret'))],
      change: () => {
        for (let n = 0; n < TRIES; n += 1) scene.replace('secret', `new ${n}`);
      },
    });
    expectHeld({ said, exit });
  });

  test('whoever got in before the protection was back does not keep what it opened', async () => {
    using scene = new Scene(server, identity);
    scene.write('secret', 'old');
    // From before the change until it must be protected again. Then there is time to end whoever got in.
    const spin = `
      const { openSync, readFileSync, existsSync } = require('node:fs');
      console.log('ready');
      let fd;
      let until = Infinity;
      while (fd === undefined && Date.now() < until) {
        try { fd = openSync('secret'); } catch {}
        if (until === Infinity && existsSync('go')) until = Date.now() + 300;
      }
      const later = Date.now() + 3000;
      while (fd !== undefined && Date.now() < later) {}
      console.log(fd === undefined ? 'refused' : readFileSync(fd, 'latin1'));`;
    const { said, exit } = await scene.run([process.execPath, '-e', spin], {
      entries: [denied(scene.path('secret'))],
      change: () => scene.replace('secret', 'new'),
    });
    const outcome = { said, denied: exit.sandboxDenied === true };
    expect([
      { said: ['refused'], denied: false },
      { said: [], denied: true },
    ]).toContainEqual(outcome);
  });

  test('a link in the place of a protected name ends the program, and says that the policy did', async () => {
    using scene = new Scene(server, identity);
    scene.write('.codex', '');
    scene.make('other');
    const { said, exit } = await scene.attack({
      script: 'sleep 20; echo went on',
      change: () => {
        symlinkSync('other', scene.path('link'));
        renameSync(scene.path('link'), scene.path('.codex'));
      },
    });
    expect({ said, denied: exit.sandboxDenied }).toEqual({ said: [], denied: true });
  });

  test('a background job that was stopped stays so, and a trap is not sprung', async () => {
    using scene = new Scene(server, identity);
    scene.write('secret', 'old');
    const state = 'cut -d" " -f3 /proc/$!/stat';
    const { said } = await scene.attack({
      before:
        'trap "echo trapped" TERM HUP INT; sleep 60 & kill -STOP $!; ' +
        `until [ "$(${state})" = T ]; do sleep 0.01; done; `,
      script: `${untilRefused('[ -s secret ]')}; ${state}; kill -KILL $!`,
      entries: [denied(scene.path('secret'))],
      change: () => scene.replace('secret', 'new'),
    });
    expect(said).toEqual(['refused', 'T']);
  });
});
