import { base64 } from '../../../testkit/app-client.mjs';
import { sh } from '../../../testkit/wire-client.mjs';
import { type AppCase, type CaseBench, UNCONFINED } from '../case.js';

const STREAMED = { streamStdin: true, streamStdoutStderr: true };

function control(bench: CaseBench, what: string, more: object = {}): Promise<unknown> {
  return bench.ask(`command/exec/${what}`, { processId: bench.handle, ...more });
}

/** Streams a script without touching it; its answer and all it said. */
function streams(name: string, script: string, more: object = {}): AppCase {
  return {
    name: `command/exec: streaming: ${name}`,
    play: async (bench) => {
      bench.postExec(script, { streamStdoutStderr: true, ...more });
      return { answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  };
}

/** Leaves a connection while something runs on it, and waits until that is gone. */
function endsWithConnection(method: string, more: object): AppCase {
  return {
    name: `${method}: ends with its connection`,
    play: async (bench) => {
      const other = await (await bench.connect()).initialize();
      const script = `echo $$ > ${bench.at('new')}; mv ${bench.at('new')} ${bench.at('pid')}; sleep 600`;
      other.post('run', method, { command: sh(script), ...more });
      await bench.exec(`until [ -e ${bench.at('pid')} ]; do sleep 0.02; done`);
      other.wire.close();
      return await bench.exec(`while kill -0 $(cat ${bench.at('pid')}) 2>/dev/null; do sleep 0.02; done`);
    },
  };
}

/** Streamed output, and what can be done to a command that runs. */
export const commandControlCases: readonly AppCase[] = [
  streams('both streams, before the answer', 'echo out; echo err >&2; exit 3'),
  streams('nothing', 'true'),
  streams('every byte', "printf '\\000\\377\\200a'"),
  streams('a cap, per stream', 'printf abcde; printf 12 >&2', { outputBytesCap: 3 }),
  streams('a cap of exactly what came', 'printf abc', { outputBytesCap: 3 }),
  streams('a cap of nothing', 'echo out', { outputBytesCap: 0 }),
  streams('a cap of nothing, and silence', 'true', { outputBytesCap: 0 }),
  { ...streams('a timeout', 'echo up; sleep 600', { disableTimeout: false, timeoutMs: 1500 }), slow: true },
  {
    name: 'command/exec: input in pieces, then its end',
    play: async (bench) => {
      bench.postExec('cat; echo end', STREAMED);
      const writes = [
        await control(bench, 'write', { deltaBase64: base64('one ') }),
        await control(bench, 'write', { deltaBase64: '' }),
        await control(bench, 'write', { deltaBase64: base64('two\n'), closeStdin: true }),
      ];
      return { writes, answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  },
  {
    name: 'command/exec: input after its end',
    play: async (bench) => {
      bench.postExec('cat; echo seen; sleep 600', STREAMED);
      const writes = [await control(bench, 'write', { closeStdin: true })];
      await bench.client.shows(bench.handle, 'seen');
      writes.push(
        await control(bench, 'write', { closeStdin: true }),
        await control(bench, 'write', { deltaBase64: '' }),
        await control(bench, 'write', { deltaBase64: 'AAAA' }),
        await control(bench, 'write', { deltaBase64: 'AAAA', closeStdin: true }),
      );
      return { writes, end: await control(bench, 'terminate'), answer: await bench.answerTo('run') };
    },
  },
  {
    name: 'command/exec: input and sizes for a command that takes none',
    play: async (bench) => {
      bench.postExec('echo up; sleep 600', { streamStdoutStderr: true });
      await bench.client.shows(bench.handle, 'up');
      return [
        await control(bench, 'write', { deltaBase64: 'AAAA' }),
        await control(bench, 'write', { deltaBase64: '' }),
        await control(bench, 'write', { closeStdin: true }),
        await control(bench, 'resize', { size: { rows: 1, cols: 1 } }),
        await control(bench, 'resize', { size: { rows: 0, cols: 1 } }),
        await control(bench, 'terminate'),
        await bench.answerTo('run'),
      ];
    },
  },
  {
    name: 'command/exec: all requests sent at once keep their order',
    play: async (bench) => {
      bench.postExec('cat', STREAMED);
      for (const [index, text] of ['a', 'b', 'c', 'd'].entries()) {
        bench.post(`w${index}`, 'command/exec/write', { processId: bench.handle, deltaBase64: base64(text) });
      }
      bench.post('close', 'command/exec/write', { processId: bench.handle, closeStdin: true });
      return { answer: await bench.answerTo('run'), streamed: bench.streamed(bench.handle) };
    },
  },
  {
    name: 'command/exec: terminate gives no time to clean up',
    play: async (bench) => {
      bench.postExec('trap "echo trapped" TERM INT HUP EXIT; echo up; sleep 600', STREAMED);
      await bench.client.shows(bench.handle, 'up');
      return [await control(bench, 'terminate'), await bench.answerTo('run'), bench.streamed(bench.handle)];
    },
  },
  {
    name: 'command/exec: terminate without streams keeps what was written',
    play: async (bench) => {
      bench.postExec(`echo up; touch ${bench.at('ready')}; sleep 600`);
      await bench.exec(`until [ -e ${bench.at('ready')} ]; do sleep 0.02; done`);
      return [await control(bench, 'terminate'), await bench.answerTo('run')];
    },
  },
  {
    name: 'command/exec: control of one that is over',
    play: async (bench) => {
      await bench.exec('true', { processId: bench.handle });
      return [
        await control(bench, 'terminate'),
        await control(bench, 'write', { closeStdin: true }),
        await control(bench, 'resize', { size: { rows: 1, cols: 1 } }),
      ];
    },
  },
  endsWithConnection('command/exec', { processId: 'p', disableTimeout: true, ...UNCONFINED }),
  endsWithConnection('process/spawn', { processHandle: 'h', cwd: '/', timeoutMs: null }),
  {
    name: 'command/exec: ids belong to their connection',
    play: async (bench) => {
      bench.postExec('echo up; sleep 600', STREAMED);
      await bench.client.shows(bench.handle, 'up');
      const other = await (await bench.connect()).initialize();
      const stranger = await bench.ask('command/exec/terminate', { processId: bench.handle }, other);
      return [stranger, await control(bench, 'terminate'), await bench.answerTo('run')];
    },
  },
];
