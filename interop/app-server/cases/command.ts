import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AppCase, VARIABLE_NAMES } from '../case.js';

/** A script and its answer. */
function exec(name: string, script: string, more: object = {}): AppCase {
  return { name: `command/exec: ${name}`, play: (bench) => bench.exec(script, more) };
}

const MIB = 1024 * 1024;
const SECRETS = [
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
  'OPENAI_API_KEY',
];

/** What a command finds around it, how it ends, and what is kept of its output. */
export const commandCases: readonly AppCase[] = [
  exec('both streams and the exit code', 'echo out; echo err >&2; exit 3'),
  exec('the highest exit code', 'exit 255'),
  exec('stdin is empty', 'cat; echo end'),
  exec('ended by SIGTERM', 'echo up; kill -TERM $$'),
  exec('ended by SIGKILL', 'echo up; kill -KILL $$'),
  exec('ended by SIGINT', 'echo up; kill -INT $$'),
  exec('ended by SIGSEGV', 'ulimit -c 0; kill -SEGV $$'),
  exec('text in UTF-8', "printf 'gr\\303\\274n \\342\\202\\254 \\360\\237\\230\\200'"),
  exec('a byte order mark stays', "printf '\\357\\273\\277x'"),
  exec('a NUL in the output', "printf 'a\\0b'"),
  exec('text in Latin-1', "printf 'caf\\351 cr\\350me'"),
  exec('bytes that are no text', "printf 'a\\377\\376b'"),
  exec('variables are inherited by exact name', 'echo $INHERITED $inherited'),
  exec('a variable replaced, one unset, one new', 'echo ${INHERITED-unset} $inherited $NEW', {
    env: { INHERITED: null, inherited: 'replaced', NEW: 'new' },
  }),
  exec('a variable without content', 'echo "[${EMPTY-unset}]"', { env: { EMPTY: '' } }),
  exec('secrets of the server are kept back', 'echo ${NODE_REPL_AUTH_TOKEN-unset}', {
    env: { NODE_REPL_AUTH_TOKEN: 'given' },
  }),
  exec('all secrets of the server are kept back', `env | cut -d= -f1 | grep -E '^(CODEX_EXEC|OPENAI)_'`, {
    env: Object.fromEntries(SECRETS.map((name) => [name, 'given'])),
  }),
  exec('names of all variables', VARIABLE_NAMES),
  exec(
    'leads a session of its own, without a terminal',
    'set -- $(cat /proc/$$/stat); shift 3; echo $(($2 - $$)) $(($3 - $$)) $4',
  ),
  exec('open descriptors', 'ls /proc/$$/fd'),
  exec('blocked and ignored signals', 'exec grep -E "^Sig(Blk|Ign)" /proc/self/status'),
  exec('umask and limits', 'umask; ulimit -Sn; ulimit -Hn'),
  exec('cwd of the server', 'pwd'),
  exec('cwd through dots', 'pwd', { cwd: '/usr/../usr/./lib/..' }),
  {
    name: 'command/exec: cwd relative to the server’s',
    play: async (bench) => {
      mkdirSync(join(bench.run.workspace, 'sub'), { recursive: true });
      return [await bench.exec('pwd', { cwd: 'sub' }), await bench.exec('pwd', { cwd: './sub/..' })];
    },
  },
  {
    name: 'command/exec: arguments arrive as they are',
    play: async (bench) => {
      const odd = ['', ' ', 'a b', "'", '"', '$HOME', '\n', '\\', '*', 'ü', '-'];
      return await bench.exec('true', { command: ['printf', '[%s]', ...odd] });
    },
  },
  {
    name: 'command/exec: programs are looked up in the path of the child',
    play: async (bench) => {
      writeFileSync(bench.at('own-tool'), '#!/bin/sh\necho mine\n');
      chmodSync(bench.at('own-tool'), 0o755);
      return [
        await bench.exec('', { command: ['own-tool'], env: { PATH: `${bench.folder}:/usr/bin:/bin` } }),
        await bench.exec('', { command: ['./own-tool'], cwd: bench.folder }),
        await bench.exec('', { command: ['own-tool'], cwd: bench.folder }),
        await bench.exec('', { command: ['sh', '-c', 'echo found'], env: { PATH: null } }),
      ];
    },
  },
  {
    name: 'command/exec: a script without an interpreter line',
    play: async (bench) => {
      writeFileSync(bench.at('plain'), 'echo plain\n');
      chmodSync(bench.at('plain'), 0o755);
      return await bench.exec('', { command: [bench.at('plain')] });
    },
  },
  exec('cap: per stream', 'printf abcde; printf 12 >&2', { outputBytesCap: 3 }),
  exec('cap: nothing', 'echo out; echo err >&2', { outputBytesCap: 0 }),
  exec('cap: a writer past it is not held up', `head -c ${4 * MIB} /dev/zero; echo end >&2`, {
    outputBytesCap: 1,
  }),
  exec('cap: inside a character', "printf '\\303\\251\\303\\251'", { outputBytesCap: 3 }),
  {
    name: 'command/exec: cap: the default, and none',
    play: async (bench) => {
      const sized = async (more: object): Promise<number> => {
        const params = { command: ['head', '-c', String(MIB + 10), '/dev/zero'], ...more };
        const { stdout } = await bench.client.call('command/exec', params);
        return String(stdout).length;
      };
      return [
        await sized({}),
        await sized({ disableOutputCap: true }),
        await sized({ outputBytesCap: null }),
      ];
    },
  },
  exec('timeout: 124 and what was written', 'trap "echo trapped" TERM; echo up; sleep 600', {
    timeoutMs: 1500,
  }),
  exec('timeout: at once', 'sleep 600', { timeoutMs: 0 }),
  exec('timeout: none', 'sleep 0.1; echo over', { disableTimeout: true }),
  { ...exec('output held open by a job in the background', 'sleep 4 & echo over'), slow: true },
  {
    name: 'command/exec: an id is taken while its command runs, and free afterwards',
    play: async (bench) => {
      bench.postExec('echo up; read x', { streamStdin: true, streamStdoutStderr: true });
      await bench.client.shows(bench.handle, 'up');
      const duplicate = await bench.exec('echo second', { processId: bench.handle });
      await bench.ask('command/exec/write', { processId: bench.handle, closeStdin: true });
      const first = await bench.answerTo('run');
      return { duplicate, first, again: await bench.exec('echo again', { processId: bench.handle }) };
    },
  },
  {
    name: 'command/exec: a start that failed leaves its id free',
    play: async (bench) => [
      await bench.exec('', { command: ['/no/such/program'], processId: bench.handle }),
      await bench.exec('echo ok', { processId: bench.handle }),
    ],
  },
];
