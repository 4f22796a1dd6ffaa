import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { outputOf } from '../../testkit/wire-client.mjs';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';

const uri = (path: string): string => pathToFileURL(path).href;

/** Everything a profile can do to a shell that a command can notice, but for where it leads. */
const RICH_PROFILE = String.raw`
export EXPORTED='profile value' MULTI=$'two\nlines and '"'"'quotes'"'"
LOCAL='not exported'
declare -a LIST=(one 'two three'); declare -A TABLE=([key]='value "quoted"'); declare -ri FIXED=7; declare -rx SEALED=1
declare -u UPPER=loud; declare -n ALIASED=LOCAL; export -n HOME_ON_LOAN
shopt -s extglob expand_aliases globstar; set -o noclobber; set -o pipefail; set -u
greet() { case $1 in @(a|b)*) echo "greets $1" ;; *) local -r x=$1; echo "other $x" ;; esac; }
shared() { echo shared; }; export -f shared
alias ll='echo "an alias"' ..='echo up'
trap 'echo trapped' USR1
umask 027; ulimit -n 500; unset TAKEN
`;

/** Tells all of that. Only the exported part depends on who asks. */
const TELL = String.raw`
echo "$EXPORTED|$MULTI|$LOCAL|${'$'}{LIST[*]}|${'$'}{TABLE[key]}|$FIXED|$SEALED|$UPPER|$ALIASED|${'$'}{TAKEN-gone}|$ASKED|$0|$#"
declare -p LIST TABLE FIXED SEALED UPPER LOCAL; declare -n | sort
greet abc; greet xyz; shared; bash -c shared; ll; ..
declare -f; declare -F; alias; trap -p; umask; ulimit -n; set +o; shopt | grep -v login_shell
FIXED=8 2>/dev/null; env | grep -vE '^(_|OLDPWD|SHLVL)=' | sort; echo "$SHLVL $LINENO $BASH_EXECUTION_STRING"
`;

/** A server whose user has a profile, and how often that ran. */
class ProfileHost implements AsyncDisposable {
  readonly host: ConfinedServer;
  #count = 0;

  private constructor(host: ConfinedServer) {
    this.host = host;
  }

  static async open(identity: Identity, profile: string): Promise<ProfileHost> {
    const place = new Place(identity);
    const home = join(place.base, 'home');
    mkdirSync(home);
    mkdirSync(join(place.base, 'tmp'));
    writeFileSync(join(home, '.bash_profile'), `echo >>"$HOME/runs"; echo noise; echo noise >&2\n${profile}`);
    if (identity.uid !== undefined)
      for (const path of [home, join(place.base, 'tmp')]) chownSync(path, identity.uid, identity.uid);
    return new ProfileHost(await ConfinedServer.start(identity, { place }));
  }

  get home(): string {
    return join(this.host.place.base, 'home');
  }

  get temporary(): string {
    return join(this.host.place.base, 'tmp');
  }

  get variables(): Record<string, string> {
    return { PATH: '/usr/bin:/bin', HOME: this.home, TMPDIR: this.temporary };
  }

  /** How often the profile ran so far. */
  get runs(): number {
    const log = join(this.home, 'runs');
    return existsSync(log) ? readFileSync(log, 'utf8').length : 0;
  }

  /** The profile notes its runs, so the home must be writable. */
  sandbox(): object {
    return this.host.sandbox({ workspaceRoots: [this.host.cwd, uri(this.home)] });
  }

  async run(script: string, more: Record<string, unknown> = {}): Promise<string> {
    const { client } = this.host;
    this.#count += 1;
    const processId = `snapshot${this.#count}`;
    const { env, onlyEnv, argv, ...rest } = more;
    await client.call('process/start', {
      processId,
      argv: argv ?? ['/bin/bash', '-lc', script],
      cwd: this.host.cwd,
      env: onlyEnv ?? { ...this.variables, ...(env as object) },
      tty: false,
      shellSnapshot: this.scope('scope'),
      ...rest,
    });
    const events = await client.closedEvents(processId);
    // Between the two streams there is no order.
    return outputOf(events.filter(({ params }) => params['stream'] !== 'stderr')).toString();
  }

  scope(scopeId: string): object {
    return { scopeId, shell: { name: 'bash', path: '/bin/bash' } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host[Symbol.asyncDispose]();
  }
}

const IS_LOGIN = 'shopt -q login_shell && echo login || echo snapshot';

describe.each(identities)('shell snapshots, as $name', (identity) => {
  test('a profile cannot widen the policy of later shells with another TMPDIR', async () => {
    await using host = await ProfileHost.open(identity, 'export TMPDIR=$(cd "$HOME/../outside" && pwd)\n');
    const { PATH, HOME } = host.variables;
    const tmpdir = { path: { type: 'special', value: { kind: 'tmpdir' } }, access: 'write' };
    const more = { workspaceRoots: [host.host.cwd, uri(host.home)] };
    const sandbox = host.host.sandbox(more, [tmpdir]);
    const script = 'echo "$TMPDIR"; echo x > "$TMPDIR/widened"';
    for (let round = 0; round < 2; round += 1)
      expect(await host.run(script, { sandbox, onlyEnv: { PATH, HOME } })).toContain('/outside\n');
    expect(existsSync(join(host.host.place.outside, 'widened'))).toBe(false);
  });

  describe.each([{ name: 'without a policy' }, { name: 'under a policy', confined: true }])(
    '$name',
    ({ confined }) => {
      const policy = (host: ProfileHost) => (confined ? { sandbox: host.sandbox() } : {});

      test('a later shell is what its login shell would have been, and the profile ran once', async () => {
        await using host = await ProfileHost.open(identity, RICH_PROFILE);
        // Not asked for by name but inherited: all of it is the profile's to change.
        const set = { ...host.variables, TAKEN: 'by the profile', HOME_ON_LOAN: 'x' };
        const envPolicy = { inherit: 'none', ignoreDefaultExcludes: true, exclude: [], set, includeOnly: [] };
        const tell = (asked: string, more: object = {}) =>
          host.run(TELL, { ...policy(host), envPolicy, onlyEnv: { ASKED: asked }, ...more });
        const login = (await tell('1', { shellSnapshot: null })).replace('noise\n', '');
        expect(host.runs).toBe(1);
        expect(login).toContain('profile value|two\nlines');
        expect(await tell('1')).toBe(login);
        const other = login.replaceAll('gone|1|', 'gone|2|').replaceAll('ASKED=1', 'ASKED=2');
        expect(await tell('2')).toBe(other);
        expect(host.runs).toBe(2);
        expect(await host.run(IS_LOGIN, policy(host))).toBe('snapshot\n');
      });

      test('what a request names itself holds; it is shared within a scope, a place and the same rules only', async () => {
        await using host = await ProfileHost.open(identity, 'export WHO=profile; TERM=odd; cd /\n');
        const run = (script: string, more: object = {}) => host.run(script, { ...policy(host), ...more });
        expect(await run('echo $WHO; pwd')).toBe(`profile\n${host.host.place.workspace}\n`);
        expect(await run('echo $WHO $TERM', { env: { WHO: 'me', TERM: 'dumb' } })).toBe('me dumb\n');
        expect(await run('echo $WHO', { env: { OTHER: '1' } })).toBe('profile\n');
        expect(host.runs).toBe(1);
        await run(IS_LOGIN, { shellSnapshot: host.scope('another') });
        await run(IS_LOGIN, { cwd: uri(host.host.place.outside) });
        const envPolicy = {
          inherit: 'core',
          ignoreDefaultExcludes: true,
          exclude: [],
          set: {},
          includeOnly: [],
        };
        await run(IS_LOGIN, { envPolicy });
        expect(host.runs).toBe(4);
        await run(IS_LOGIN, {
          sandbox: host.host.sandbox({ workspaceRoots: [host.host.cwd, uri(host.home)] }, []),
        });
        await run(IS_LOGIN, { sandbox: { permissions: { type: 'disabled' } } });
        expect(host.runs).toBe(confined ? 5 : 6);
      });

      test('arguments, name, terminal, status and errors are those of the command', async () => {
        await using host = await ProfileHost.open(identity, ':\n');
        const run = (script: string, more: object = {}) => host.run(script, { ...policy(host), ...more });
        await run('true');
        expect(await run('', { argv: ['/bin/bash', '-lc', 'echo "$0|$*"', 'zero', 'a b', 'c'] })).toBe(
          'zero|a b c\n',
        );
        expect(await run('echo $0', { arg0: 'renamed' })).toBe('renamed\n');
        expect(await run('test -t 0 && echo terminal', { tty: true })).toBe('terminal\r\n');
        expect(await run('no-such-command 2>&1; echo $?')).toMatch(
          /^\/bin\/bash: line 1: no-such-command:.*\n127\n$/,
        );
        expect(host.runs).toBe(1);
        const { processes } = await host.host.client.call('process/list');
        expect((processes as { argv: string[] }[])[0]?.argv).toEqual(['/bin/bash', '-lc', 'true']);
      });

      test('nothing of it is in arguments or files, and nothing stays open', async () => {
        await using host = await ProfileHost.open(
          identity,
          'SECRET_STATE=do-not-show; f() { : do-not-show; }\n',
        );
        const look =
          'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -c -- do-not-sho[w]; ls /proc/self/fd; env';
        for (let time = 0; time < 2; time += 1) {
          const text = await host.run(look, policy(host));
          expect(text).toMatch(/^0\n0\n1\n2\n3\n/);
          expect(text).not.toContain('do-not-show');
          expect(text).not.toContain('BASH_ENV');
        }
        expect(readdirSync(host.temporary)).toEqual([]);
        expect(host.runs).toBe(1);
      });

      test('a profile whose state cannot be had runs every time, as without a snapshot', async () => {
        const huge = 'BIG=$(head -c 600000 /dev/zero | tr "\\0" x)';
        const broken = {
          'not text': "export ODD=$'\\xff'",
          huge,
          'an early end': 'exit 0',
          stubborn: 'readonly IFS=:',
        };
        for (const [name, profile] of Object.entries(broken)) {
          await using host = await ProfileHost.open(identity, `${profile}\n`);
          const texts = [await host.run(IS_LOGIN, policy(host)), await host.run(IS_LOGIN, policy(host))];
          const expected = name === 'an early end' ? 'noise\n' : 'noise\nlogin\n';
          expect({ name, texts }).toEqual({ name, texts: [expected, expected] });
        }
      });

      test('spares the time a profile takes', async () => {
        await using host = await ProfileHost.open(identity, 'sleep 1\n');
        const timed = async (more: object = {}): Promise<number> => {
          const startedAt = performance.now();
          await host.run('true', { ...policy(host), ...more });
          return performance.now() - startedAt;
        };
        await timed();
        const later: number[] = [];
        for (let time = 0; time < 5; time += 1) later.push(await timed());
        const login = await timed({ shellSnapshot: null });
        expect(login).toBeGreaterThan(1000);
        // A start takes a few milliseconds; on a machine that is very busy, more, but not as long as the profile.
        expect(Math.min(...later)).toBeLessThan(login / 2);
      });
    },
  );

  test('a profile is run under the policy of its command', async () => {
    await using host = await ProfileHost.open(identity, 'touch "$OUTSIDE/x" 2>/dev/null && REACHED=yes\n');
    const env = { OUTSIDE: host.host.place.outside };
    expect(await host.run('echo "${REACHED-no}"', { env, sandbox: host.sandbox() })).toBe('no\n');
    expect(readdirSync(host.host.place.outside)).toEqual([]);
    expect(await host.run('echo "${REACHED-no}"', { env })).toBe('yes\n');
  });

  test('only login shells of a known kind have snapshots; names are checked', async () => {
    await using host = await ProfileHost.open(identity, 'export WHO=profile\n');
    expect(await host.run('', { argv: ['/bin/bash', '-c', 'echo "$WHO"'] })).toBe('\n');
    expect(await host.run('', { argv: ['echo', '-lc', 'x'] })).toBe('-lc x\n');
    const elsewhere = { scopeId: 's', shell: { name: 'bash', path: '/usr/bin/bash' } };
    expect(await host.run(IS_LOGIN, { shellSnapshot: elsewhere })).toBe('noise\nlogin\n');
    expect(await host.run(IS_LOGIN, { env: { POSIXLY_CORRECT: '1' } })).toContain('login\n');
    const { client } = host.host;
    for (const snapshot of [
      { scopeId: '', shell: { name: 'bash', path: '/bin/bash' } },
      { scopeId: 'é'.repeat(129), shell: { name: 'bash', path: '/bin/bash' } },
      { scopeId: 's', shell: { name: 'fish', path: '/bin/bash' } },
      { scopeId: 's' },
    ]) {
      const params = host.host.params('bad', ['/bin/bash', '-lc', 'true'], { shellSnapshot: snapshot });
      expect(await client.refusal('process/start', params)).toBe(-32602);
    }
    const { capabilities } = await client.call('environment/info');
    expect(capabilities).toMatchObject({ shellSnapshotV2: true });
  });

  test('the one not used for the longest time makes room for the seventeenth', async () => {
    await using host = await ProfileHost.open(identity, ':\n');
    const use = (index: number) => host.run('true', { shellSnapshot: host.scope(`scope ${index}`) });
    for (let index = 0; index < 16; index += 1) await use(index);
    await use(0);
    expect(host.runs).toBe(16);
    await use(16);
    await use(0);
    expect(host.runs).toBe(17);
    await use(1);
    expect(host.runs).toBe(18);
  });

  test('starts at the same time share one run of the profile', async () => {
    await using host = await ProfileHost.open(identity, 'sleep 0.1; export WHO=profile\n');
    const texts = await Promise.all(Array.from({ length: 8 }, () => host.run('echo $WHO')));
    expect(texts).toEqual(Array.from({ length: 8 }, () => 'profile\n'));
    expect(host.runs).toBe(1);
  });
});

test('a profile that hangs costs ten seconds, then its command runs as without a snapshot', {
  timeout: 40_000,
}, async () => {
  const identity = identities[0] as Identity;
  await using host = await ProfileHost.open(
    identity,
    '[ -e "$HOME/once" ] || { : >"$HOME/once"; sleep 1000; }\n',
  );
  expect(await host.run(IS_LOGIN)).toBe('noise\nlogin\n');
  expect(await host.run(IS_LOGIN)).toBe('noise\nlogin\n');
  expect(host.runs).toBe(3);
});
