import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { sh } from '../../testkit/wire-client.mjs';
import { type Identity, identities } from '../host/sandbox/harness.js';

/** As on machines that systemd started, among mounts of our own. */
const SHARED = ['unshare', '-m', 'sh', '-c', 'mount --make-rshared / && exec "$@"', 'sh'];

const isRoot = process.getuid?.() === 0;
const TRIES = Number(process.env.EXECWIRE_ATTACK_TRIES ?? 5);

const machines = identities.flatMap((identity) => [
  { title: identity.name, identity, wrapper: [] as string[] },
  ...(isRoot ? [{ title: `${identity.name}, shared mounts`, identity, wrapper: SHARED }] : []),
]);

/** What the host does, as the user the sandbox belongs to. */
class Outside {
  readonly #workspace: string;
  readonly #uid: number | undefined;

  constructor(workspace: string, { uid }: Identity) {
    this.#workspace = workspace;
    this.#uid = uid;
  }

  path(name: string): string {
    return join(this.#workspace, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
    this.#own(name);
  }

  /** As editors do. */
  replace(name: string, text: string): void {
    this.write(`${name}.new`, text);
    renameSync(this.path(`${name}.new`), this.path(name));
  }

  /** As `git init` does: what is there is filled. */
  make(...names: string[]): void {
    for (const name of names) {
      mkdirSync(this.path(name), { recursive: true });
      this.#own(name);
    }
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true });
  }

  #own(name: string): void {
    if (this.#uid !== undefined) chownSync(this.path(name), this.#uid, this.#uid);
  }
}

/** Tries until it is refused, or for some seconds; then says which. */
const untilRefused = (attempt: string): string =>
  `n=0; while (${attempt}) 2>/dev/null; do n=$((n+1)); [ $n -lt 400 ] || break; sleep 0.01; done; ` +
  `(${attempt}) 2>/dev/null && echo open || echo refused`;

const denied = (path: string): object => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access: 'deny',
});

describe.each(machines)('names replaced while a program runs: $title', ({ identity, wrapper }) => {
  const open = async () => {
    const host = await ConfinedServer.start(identity, { wrapper });
    return { host, outside: new Outside(host.place.workspace, identity) };
  };

  /** Starts a script, and changes the disk once it says so. Tells what the script said afterwards. */
  async function attack(
    host: ConfinedServer,
    {
      before = '',
      script,
      entries = [],
      change,
    }: {
      before?: string;
      script: string;
      entries?: object[];
      change: () => void;
    },
  ): Promise<{ said: string[]; exit: Record<string, unknown> }> {
    const whole = `${before}echo ready; until [ -e go ]; do sleep 0.01; done; ${script}`;
    const params = host.params('p', sh(whole), { sandbox: host.sandbox({}, entries) });
    await host.client.call('process/start', params);
    await host.client.until(() => host.client.output('p').toString() === 'ready\n');
    change();
    writeFileSync(join(host.place.workspace, 'go'), '');
    const events = await host.client.closedEvents('p');
    const exit = events.find(({ method }) => method === 'process/exited')?.params ?? {};
    return { said: host.client.output('p').toString().trim().split('\n').slice(1), exit };
  }

  test('a denied file that an editor writes by rename', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('secret', 'old');
    const { said, exit } = await attack(host, {
      script: untilRefused('grep -q . secret'),
      entries: [denied(outside.path('secret'))],
      change: () => outside.replace('secret', 'new'),
    });
    expect({ said, code: exit.exitCode }).toEqual({ said: ['refused'], code: 0 });
  });

  test('a file that a pattern hides', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('key.pem', 'old');
    const { said } = await attack(host, {
      script: untilRefused('grep -q . key.pem'),
      entries: [{ path: { type: 'glob_pattern', pattern: '**/*.pem' }, access: 'deny' }],
      change: () => outside.replace('key.pem', 'new'),
    });
    expect(said).toEqual(['refused']);
  });

  test('a repository that is removed and made anew', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.make('.git', '.git/hooks');
    const { said } = await attack(host, {
      script: untilRefused('touch .git/hooks/post-commit'),
      change: () => {
        outside.remove('.git');
        outside.make('.git', '.git/hooks');
      },
    });
    expect(said).toEqual(['refused']);
  });

  test.each(['removed', 'moved aside'])(
    'a program that only has the old repository open goes on: %s',
    async (how) => {
      const { host, outside } = await open();
      await using _ = host;
      outside.make('.git', '.git/refs');
      outside.write('.git/HEAD', 'ref');
      const { said, exit } = await attack(host, {
        before:
          'exec 3<.git/HEAD 4<.git 5<.git/refs; (cd .git/refs && : > ../../there && exec sleep 60) & ' +
          'until [ -e there ]; do sleep 0.01; done; ',
        script: `${untilRefused('touch .git/new')}; cat <&3; kill -0 $! && kill -9 $!`,
        change: () => {
          if (how === 'removed') outside.remove('.git');
          else renameSync(outside.path('.git'), outside.path('before'));
          outside.make('.git');
        },
      });
      expect({ said, code: exit.exitCode }).toEqual({ said: ['refused', 'ref'], code: 0 });
    },
  );

  test('a program that reads a protected file, and has it mapped, goes on when that is replaced', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('.codex', 'old');
    const reader = `
      import mmap, os, time
      file = open('.codex')
      mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
      print('ready', flush=True)
      while not os.path.exists('go'): time.sleep(0.01)
      for _ in range(400):
          try: open('.codex', 'a').close()
          except OSError: break
          time.sleep(0.01)
      print(file.read(), mapped[:].decode(), open('.codex').read(), flush=True)`;
    const script = reader.replace(/^ {6}/gm, '');
    const params = host.params('p', ['python3', '-c', script], { sandbox: host.sandbox() });
    await host.client.call('process/start', params);
    await host.client.until(() => host.client.output('p').toString() === 'ready\n');
    outside.replace('.codex', 'new');
    writeFileSync(join(host.place.workspace, 'go'), '');
    const events = await host.client.closedEvents('p');
    const exit = events.find(({ method }) => method === 'process/exited')?.params;
    const said = host.client.output('p').toString();
    expect({ said, code: exit?.exitCode }).toEqual({ said: 'ready\nold old new\n', code: 0 });
  });

  test('a repository that is removed: nobody inside makes another', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.make('.git');
    const { said } = await attack(host, {
      script: untilRefused('mkdir -p .git/hooks && touch .git/hooks/new'),
      change: () => outside.remove('.git'),
    });
    expect(said).toEqual(['refused']);
  });

  test('whoever outside removes a file and makes it anew finds nothing in the way', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('secret', 'old');
    const { said } = await attack(host, {
      script: untilRefused('grep -q . secret'),
      entries: [denied(outside.path('secret'))],
      change: () => {
        // Not at once: a server that notices the gap must leave it.
        const script = 'rm secret; sleep 0.1; set -C; echo new > secret';
        execFileSync('sh', ['-c', script], { cwd: host.place.workspace });
      },
    });
    expect(said).toEqual(['refused']);
  });

  test('a directory above a denied file', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.make('sub', 'sub/deep');
    outside.write('sub/deep/secret', 'old');
    const { said } = await attack(host, {
      script: untilRefused('grep -q . sub/deep/secret'),
      entries: [denied(outside.path('sub/deep/secret'))],
      change: () => {
        renameSync(outside.path('sub'), outside.path('before'));
        outside.make('sub', 'sub/deep');
        outside.write('sub/deep/secret', 'new');
      },
    });
    expect(said).toEqual(['refused']);
  });

  test('again and again', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('secret', 'old');
    const { said, exit } = await attack(host, {
      script: untilRefused('grep -q . secret'),
      entries: [denied(outside.path('secret'))],
      change: () => {
        for (let n = 0; n < TRIES; n += 1) outside.replace('secret', `new ${n}`);
      },
    });
    // Replaced faster than it can be protected, it costs the program its life and never the secret.
    if (said.length === 0) expect(exit).toMatchObject({ exitCode: 137, sandboxDenied: true });
    else expect(said).toEqual(['refused']);
  });

  test('whoever got in before the protection was back does not keep what it opened', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('secret', 'old');
    const spin = `
      const { openSync, readFileSync, existsSync } = require('node:fs');
      console.log('ready');
      const until = Date.now() + 3000;
      let fd;
      while (fd === undefined && Date.now() < until) try { fd = openSync('secret'); } catch {}
      while (!existsSync('go')) {}
      const later = Date.now() + 300;
      while (Date.now() < later) {}
      console.log(fd === undefined ? 'refused' : readFileSync(fd, 'latin1'));`;
    const sandbox = host.sandbox({}, [denied(outside.path('secret'))]);
    await host.client.call('process/start', host.params('p', [process.execPath, '-e', spin], { sandbox }));
    await host.client.until(() => host.client.output('p').toString() === 'ready\n');
    outside.replace('secret', 'new');
    outside.write('go', '');
    const events = await host.client.closedEvents('p');
    const exit = events.find(({ method }) => method === 'process/exited')?.params;
    const said = host.client.output('p').toString();
    const outcome = { said, denied: exit?.sandboxDenied === true };
    expect([
      { said: 'ready\nrefused\n', denied: false },
      { said: 'ready\n', denied: true },
    ]).toContainEqual(outcome);
  });

  test('a link in the place of a protected name ends the program, and says that the policy did', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('.codex', '');
    outside.make('other');
    const { said, exit } = await attack(host, {
      script: 'sleep 20; echo went on',
      change: () => {
        symlinkSync('other', outside.path('link'));
        renameSync(outside.path('link'), outside.path('.codex'));
      },
    });
    expect({ said, denied: exit.sandboxDenied }).toEqual({ said: [], denied: true });
  });

  test('a background job that was stopped stays so, and a trap is not sprung', async () => {
    const { host, outside } = await open();
    await using _ = host;
    outside.write('secret', 'old');
    const state = 'cut -d" " -f3 /proc/$!/stat';
    const { said } = await attack(host, {
      before:
        'trap "echo trapped" TERM HUP INT; sleep 60 & kill -STOP $!; ' +
        `until [ "$(${state})" = T ]; do sleep 0.01; done; `,
      script: `${untilRefused('grep -q . secret')}; ${state}; kill -KILL $!`,
      entries: [denied(outside.path('secret'))],
      change: () => outside.replace('secret', 'new'),
    });
    expect(said).toEqual(['refused', 'T']);
  });
});
