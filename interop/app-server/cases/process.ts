import { base64 } from '../../../testkit/app-client.mjs';
import { sh } from '../../../testkit/wire-client.mjs';
import { type AppCase, answers, type CaseBench, VARIABLE_NAMES } from '../case.js';

const size = { rows: 10, cols: 10 };
const TRUE = { command: ['true'], processHandle: 'refused', cwd: '/' };

function spawns(name: string, script: string, more: object = {}): AppCase {
  return {
    name: `process/spawn: ${name}`,
    play: async (bench) => ({
      ...((await bench.spawn(script, more)) as object),
      streamed: bench.streamed(bench.handle),
    }),
  };
}

/** Starts a script, waits until it says `up`, does something to it, and looks how it ended. */
function handled(
  name: string,
  options: { script: string; more?: object },
  act: (bench: CaseBench, ask: (method: string, params?: object) => Promise<unknown>) => Promise<unknown>,
): AppCase {
  return {
    name: `process/spawn: ${name}`,
    play: async (bench) => {
      const { script, more = { streamStdin: true } } = options;
      const params = { command: sh(script), processHandle: bench.handle, cwd: bench.folder, timeoutMs: null };
      const answer = await bench.ask('process/spawn', { ...params, streamStdoutStderr: true, ...more });
      await bench.client.shows(bench.handle, 'up');
      const acts = await act(bench, (method, more = {}) =>
        bench.ask(`process/${method}`, { processHandle: bench.handle, ...more }),
      );
      return {
        answer,
        acts,
        exited: await bench.exited(bench.handle),
        streamed: bench.streamed(bench.handle),
      };
    },
  };
}

/** `process/*`, which is answered at once and tells the end later. */
export const processCases: readonly AppCase[] = [
  ...answers('process/spawn', {
    'an empty command': { ...TRUE, command: [] },
    'an empty handle': { ...TRUE, processHandle: '' },
    'no handle': { command: ['true'], cwd: '/' },
    'a handle that is a number': { ...TRUE, processHandle: 7 },
    'no cwd': { command: ['true'], processHandle: 'h' },
    'cwd null': { ...TRUE, cwd: null },
    'cwd relative': { ...TRUE, cwd: 'sub' },
    'cwd at home': { ...TRUE, cwd: '~' },
    'cwd missing': (bench) => ({ ...TRUE, cwd: bench.at('missing') }),
    'cwd missing, on a terminal': (bench) => ({
      ...TRUE,
      processHandle: bench.handle,
      tty: true,
      cwd: bench.at('missing'),
    }),
    'a program that is missing': { ...TRUE, command: ['/no/such/program'] },
    'size without tty': { ...TRUE, size },
    'size of nothing': { ...TRUE, tty: true, size: { rows: 0, cols: 1 } },
    'timeout negative': { ...TRUE, timeoutMs: -1 },
    'timeout in fractions': { ...TRUE, timeoutMs: 1.5 },
    'cap negative': { ...TRUE, outputBytesCap: -1 },
    'tty null': { ...TRUE, tty: null },
    'env of numbers': { ...TRUE, env: { A: 1 } },
  }),
  ...answers('process/writeStdin', {
    'nothing to write': { processHandle: 'nobody' },
    'nobody to write to': { processHandle: 'nobody', deltaBase64: 'AAAA' },
    'no base64': { processHandle: 'nobody', deltaBase64: '*' },
    'no handle': { deltaBase64: 'AAAA' },
  }),
  ...answers('process/resizePty', {
    'nobody to resize': { processHandle: 'nobody', size },
    'to nothing': { processHandle: 'nobody', size: { rows: 0, cols: 0 } },
    'no size': { processHandle: 'nobody' },
  }),
  ...answers('process/kill', { 'nobody to end': { processHandle: 'nobody' }, 'no handle': {} }),
  spawns('collected output comes with the end', 'echo out; echo err >&2; exit 3'),
  spawns('streamed output comes before it', 'echo out; echo err >&2; exit 3', { streamStdoutStderr: true }),
  spawns('a cap', 'printf abcde; printf 12 >&2', { outputBytesCap: 3 }),
  spawns('a cap of exactly what came', 'printf abc', { outputBytesCap: 3 }),
  spawns('a cap of nothing', 'echo out', { outputBytesCap: 0 }),
  spawns('a cap of nothing, streamed', 'echo out', { outputBytesCap: 0, streamStdoutStderr: true }),
  spawns('no cap', 'echo out', { outputBytesCap: null }),
  { ...spawns('a timeout', 'echo up; sleep 600', { timeoutMs: 1500 }), slow: true },
  spawns('input is open and never written to', 'echo over', { streamStdin: true }),
  spawns('no timeout', 'sleep 0.1; echo over', { timeoutMs: null }),
  spawns('ended by SIGTERM', 'kill -TERM $$'),
  spawns('its directory', 'pwd'),
  spawns('its directory through dots', 'pwd', { cwd: '/usr/../usr/./lib/..' }),
  spawns('names of all variables', VARIABLE_NAMES),
  spawns(
    'a variable replaced, one unset, one new',
    'echo ${INHERITED-unset} $inherited $NEW ${NODE_REPL_AUTH_TOKEN-unset}',
    {
      env: { INHERITED: null, inherited: 'replaced', NEW: 'new', NODE_REPL_AUTH_TOKEN: 'given' },
    },
  ),
  spawns('a policy is not looked at', 'mktemp -u ./x-XXXXXX >/dev/null; touch file && echo written', {
    sandboxPolicy: 'bogus',
  }),
  { ...spawns('output held open by a job in the background', 'sleep 4 & echo over'), slow: true },
  spawns('on a terminal', 'stty size; echo err >&2', { tty: true, size: { rows: 31, cols: 101 } }),
  handled('is answered while it runs', { script: 'echo up; read x; echo got:$x' }, (_, ask) =>
    ask('writeStdin', { deltaBase64: base64('word\n') }),
  ),
  handled('kill', { script: 'trap "echo trapped" TERM; echo up; sleep 600' }, (_, ask) => ask('kill')),
  handled('kill on a terminal', { script: 'echo up; sleep 600', more: { tty: true } }, (_, ask) =>
    ask('kill'),
  ),
  handled(
    'resize on a terminal',
    { script: 'stty -echo; echo up; read x; stty size', more: { tty: true } },
    async (_, ask) => [
      await ask('resizePty', { size: { rows: 45, cols: 132 } }),
      await ask('writeStdin', { deltaBase64: base64('\n') }),
    ],
  ),
  handled(
    'input and sizes for one that takes none',
    { script: 'echo up; sleep 600', more: {} },
    async (_, ask) => [
      await ask('writeStdin', { deltaBase64: 'AAAA' }),
      await ask('writeStdin', { closeStdin: true }),
      await ask('resizePty', { size }),
      await ask('kill'),
    ],
  ),
  handled('input after its end', { script: 'echo up; cat; echo seen; sleep 600' }, async (bench, ask) => {
    const closed = await ask('writeStdin', { closeStdin: true });
    await bench.client.shows(bench.handle, 'seen');
    return [
      closed,
      await ask('writeStdin', { deltaBase64: 'AAAA' }),
      await ask('writeStdin', { closeStdin: true }),
      await ask('kill'),
    ];
  }),
  handled(
    'a handle is taken while it runs, and names nothing else',
    { script: 'echo up; sleep 600' },
    async (bench, ask) => [
      await bench.ask('process/spawn', { ...TRUE, processHandle: bench.handle }),
      await bench.ask('command/exec/terminate', { processId: bench.handle }),
      await ask('kill'),
    ],
  ),
  {
    name: 'process/spawn: a handle is free after the end',
    play: async (bench) => {
      const first = await bench.spawn('echo one');
      const params = { command: ['true'], processHandle: bench.handle, cwd: '/' };
      // The real server tells the end a moment before it forgets the handle.
      let second = await bench.client.ask('process/spawn', params);
      while (second.error?.message.startsWith('duplicate'))
        second = await bench.client.ask('process/spawn', params);
      await bench.client.exited(bench.handle, 2);
      return [first, second.result];
    },
  },
];
