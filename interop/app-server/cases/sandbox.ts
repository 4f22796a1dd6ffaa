import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { base64 } from '../../../testkit/app-client.mjs';
import { sh } from '../../../testkit/wire-client.mjs';
import { type AppCase, type CaseBench, VARIABLE_NAMES } from '../case.js';

type Choice = object | ((bench: CaseBench) => object);

/** Says for each place whether a file can be made there. */
function tries(bench: CaseBench): string {
  const places = [
    bench.run.workspace,
    join(bench.run.workspace, 'sub'),
    join(bench.run.workspace, '.git'),
    join(bench.run.workspace, '.codex'),
    bench.folder,
    '/tmp',
    '/usr',
  ];
  const attempt = 'f=$(mktemp "$d/execwire-XXXXXX" 2>/dev/null) && rm "$f" && echo yes || echo no';
  return `for d in ${places.join(' ')}; do ${attempt}; done`;
}

function confined(name: string, choice: Choice): AppCase {
  return {
    name: `sandbox: ${name}: where it can write`,
    play: async (bench) => {
      const made = ['sub', '.git', '.codex'].map((each) => join(bench.run.workspace, each));
      for (const each of made) mkdirSync(each, { recursive: true });
      try {
        return await run(bench, tries(bench), choice);
      } finally {
        for (const each of made) rmSync(each, { recursive: true, force: true });
      }
    },
  };
}

function run(bench: CaseBench, script: string, choice: Choice): Promise<unknown> {
  const more = typeof choice === 'function' ? choice(bench) : choice;
  return bench.ask('command/exec', { command: sh(script), ...more });
}

function policy(type: string, more: object = {}): object {
  return { sandboxPolicy: { type, ...more } };
}

function script(name: string, text: string, choice: Choice): AppCase {
  return { name: `sandbox: ${name}`, play: (bench) => run(bench, text, choice) };
}

const READ_ONLY = policy('readOnly');
const WORKSPACE = policy('workspaceWrite');
/** 1: a socket could not be made; 2: it could, and nobody answered. */
const CONNECT =
  'python3 -c \'import socket,sys\ntry: s=socket.socket()\nexcept OSError as e: print("none", e.errno); sys.exit(1)\n' +
  'try: s.connect(("127.0.0.1",9))\nexcept OSError as e: print("no answer", e.errno); sys.exit(2)\'';

/** What a policy or a profile lets a command do. */
export const sandboxCases: readonly AppCase[] = [
  confined('no word about it', {}),
  confined('read only', READ_ONLY),
  confined('workspace', WORKSPACE),
  confined('workspace, cwd elsewhere', (bench) => ({ ...WORKSPACE, cwd: bench.folder })),
  confined('workspace with another root', (bench) =>
    policy('workspaceWrite', { writableRoots: [bench.folder] }),
  ),
  confined(
    'workspace without temporary directories',
    policy('workspaceWrite', { excludeSlashTmp: true, excludeTmpdirEnvVar: true }),
  ),
  confined('an external one', policy('externalSandbox', { networkAccess: 'restricted' })),
  confined('none', policy('dangerFullAccess')),
  confined('profile :read-only', { permissionProfile: ':read-only' }),
  confined('profile :workspace', { permissionProfile: ':workspace' }),
  confined('profile :workspace elsewhere', (bench) => ({
    permissionProfile: ':workspace',
    cwd: bench.folder,
  })),
  confined('profile :danger-full-access', { permissionProfile: ':danger-full-access' }),
  script('read only: no network', CONNECT, READ_ONLY),
  script('read only with network', CONNECT, policy('readOnly', { networkAccess: true })),
  script('workspace: no network', CONNECT, WORKSPACE),
  script('workspace with network', CONNECT, policy('workspaceWrite', { networkAccess: true })),
  script('the variable that tells of no network', 'echo ${CODEX_SANDBOX_NETWORK_DISABLED-unset}', READ_ONLY),
  script(
    'the variable that tells of no network, with one',
    'echo ${CODEX_SANDBOX_NETWORK_DISABLED-unset}',
    policy('workspaceWrite', { networkAccess: true }),
  ),
  script('names of all variables', VARIABLE_NAMES, READ_ONLY),
  script('the exit code', 'echo out; echo err >&2; exit 7', READ_ONLY),
  script('ended by a signal', 'kill -TERM $$', READ_ONLY),
  script('few processes are seen', 'test $(ls /proc | grep -c "^[0-9]") -lt 10 && echo few', READ_ONLY),
  script('no new privileges', 'grep -E "NoNewPrivs|Seccomp:" /proc/$$/status', READ_ONLY),
  script('no capabilities', 'grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/$$/status', READ_ONLY),
  { ...script('a timeout', 'echo up; sleep 600', { ...READ_ONLY, timeoutMs: 2000 }), slow: true },
  script('a cap', 'printf abcde', { ...READ_ONLY, outputBytesCap: 3 }),
  script('a variable of the request', 'echo $NEW', { ...READ_ONLY, env: { NEW: 'new' } }),
  {
    name: 'sandbox: a program that is missing',
    play: (bench) => bench.ask('command/exec', { command: ['no-such-program'], ...READ_ONLY }),
  },
  {
    name: 'sandbox: a directory that is missing',
    play: (bench) => bench.ask('command/exec', { command: ['true'], ...READ_ONLY, cwd: bench.at('missing') }),
  },
  {
    name: 'sandbox: on a terminal',
    play: async (bench) => {
      bench.postExec('stty size; read x; echo got:$x', { tty: true, ...READ_ONLY });
      await bench.client.shows(bench.handle, '24 80');
      await bench.ask('command/exec/write', { processId: bench.handle, deltaBase64: base64('word\n') });
      return { answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  },
  {
    name: 'sandbox: terminate',
    play: async (bench) => {
      bench.postExec('echo up; sleep 600', { streamStdoutStderr: true, ...READ_ONLY });
      await bench.client.shows(bench.handle, 'up');
      const ended = await bench.ask('command/exec/terminate', { processId: bench.handle });
      return { ended, answer: await bench.answerTo('run') };
    },
  },
  {
    name: 'sandbox: input',
    play: async (bench) => {
      bench.postExec('cat', { streamStdin: true, streamStdoutStderr: true, ...READ_ONLY });
      const params = { processId: bench.handle, deltaBase64: base64('typed'), closeStdin: true };
      const written = await bench.ask('command/exec/write', params);
      return { written, answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  },
];
