import { base64 } from '../../../testkit/app-client.mjs';
import { type AppCase, type CaseBench, VARIABLE_NAMES } from '../case.js';

const TTY = { tty: true };

/** Runs a script on a terminal without touching it; its answer and all it showed. */
function shows(name: string, script: string, more: object = {}): AppCase {
  return {
    name: `terminal: ${name}`,
    play: async (bench) => {
      bench.postExec(script, { ...TTY, ...more });
      return { answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  };
}

/** Runs a script until it says `up`, does something to it, and looks how it ended. */
function handled(name: string, script: string, act: (bench: CaseBench) => Promise<unknown>): AppCase {
  return {
    name: `terminal: ${name}`,
    play: async (bench) => {
      bench.postExec(script, TTY);
      await bench.client.shows(bench.handle, 'up');
      const acts = await act(bench);
      return { acts, answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  };
}

const types = (text: string) => (bench: CaseBench) =>
  bench.ask('command/exec/write', { processId: bench.handle, deltaBase64: base64(text) });

/** Commands on a terminal. */
export const terminalCases: readonly AppCase[] = [
  shows('everything is stdout, with CR LF', 'echo out; echo err >&2; exit 3'),
  shows('the usual size', 'stty size'),
  shows('a size of its own', 'stty size', { size: { rows: 31, cols: 101 } }),
  shows('settings', 'stty -a'),
  shows('all three descriptors are the terminal', 'test -t 0 && test -t 1 && test -t 2 && echo all'),
  shows(
    'the terminal is the controlling one, the shell in front',
    'set -- $(cat /proc/$$/stat); shift 3; echo $(($2 - $$)) $(($3 - $$)) $(($5 - $$)); echo there > /dev/tty',
  ),
  shows('open descriptors', 'ls /proc/$$/fd'),
  shows('variables', 'echo ${TERM-no TERM} ${COLUMNS-no COLUMNS} ${LINES-no LINES}'),
  shows('names of all variables', VARIABLE_NAMES),
  shows('ignored signals', 'exec grep -E "^Sig(Blk|Ign)" /proc/self/status'),
  shows('a cap of nothing', 'echo out', { outputBytesCap: 0 }),
  shows('a cap', 'stty -opost; printf abcde', { outputBytesCap: 3 }),
  { ...shows('a timeout', 'echo up; sleep 600', { disableTimeout: false, timeoutMs: 1500 }), slow: true },
  shows('ended by SIGTERM', 'kill -TERM $$'),
  shows('ended by SIGKILL', 'kill -KILL $$'),
  handled('input is echoed and read', 'echo up; read x; echo got:$x', types('word\n')),
  handled('input without echo', 'stty raw -echo; echo up; head -c 3', types('\u0003\u0004x')),
  handled(
    'the interrupt key',
    'trap "echo caught; exit 9" INT; echo up; while :; do sleep 0.05; done',
    types('\u0003'),
  ),
  handled('closing the input is the end of file', 'echo up; cat; echo end', (bench) =>
    bench.ask('command/exec/write', { processId: bench.handle, closeStdin: true }),
  ),
  handled('input after closing it', 'echo up; cat >/dev/null; sleep 600', async (bench) => [
    await bench.ask('command/exec/write', { processId: bench.handle, closeStdin: true }),
    await bench.ask('command/exec/write', { processId: bench.handle, deltaBase64: 'AAAA' }),
    await bench.ask('command/exec/terminate', { processId: bench.handle }),
  ]),
  handled(
    'resize',
    'trap "stty size; exit 0" WINCH; echo up; while :; do sleep 0.05; done',
    async (bench) => {
      return await bench.ask('command/exec/resize', {
        processId: bench.handle,
        size: { rows: 45, cols: 132 },
      });
    },
  ),
  handled('resize to nothing is refused', 'stty -echo; echo up; read x; stty size', async (bench) => [
    await bench.ask('command/exec/resize', { processId: bench.handle, size: { rows: 0, cols: 132 } }),
    await types('\n')(bench),
  ]),
  handled('terminate', 'echo up; sleep 600', (bench) =>
    bench.ask('command/exec/terminate', { processId: bench.handle }),
  ),
];
