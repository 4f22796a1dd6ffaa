import { base64, type ConformanceCase, shell, startParams } from '../case.js';
import { holds, same } from '../verdict.js';
import { outputOf, type WireEvent } from '../wire.js';

const LARGE_OUTPUT_BYTES = 1_000_000;
const PIPELINED_WRITES = 50;

function exitCode(events: readonly WireEvent[]): unknown {
  return events.find(({ method }) => method === 'process/exited')?.params['exitCode'];
}

/** Starting, observing, writing to and ending processes. */
export const processCases: readonly ConformanceCase[] = [
  {
    name: 'process/numbers',
    says: 'Output, one exit and one close share numbers from 1 without gaps; close has the highest.',
    async run(context) {
      const wire = await context.ready();
      const script = 'for i in 1 2 3; do echo $i; echo e$i >&2; done; exit 3';
      const result = await wire.call('process/start', startParams(context, 'p', shell(script)));
      same('processId', result['processId'], 'p');
      const events = await wire.story('p');
      const numbers = events.map(({ params }) => params.seq);
      same(
        'numbers',
        numbers,
        numbers.map((_, index) => index + 1),
      );
      same('last', events.at(-1)?.method, 'process/closed');
      same('exits', events.filter(({ method }) => method === 'process/exited').length, 1);
      same('exit code', exitCode(events), 3);
      same('stdout', outputOf(events, 'stdout'), '1\n2\n3\n');
      same('stderr', outputOf(events, 'stderr'), 'e1\ne2\ne3\n');
    },
  },
  {
    name: 'process/large-output',
    says: 'A megabyte of output arrives complete.',
    async run(context) {
      const wire = await context.ready();
      const argv = ['head', '-c', String(LARGE_OUTPUT_BYTES), '/dev/zero'];
      await wire.call('process/start', startParams(context, 'p', argv));
      same('bytes', outputOf(await wire.story('p')).length, LARGE_OUTPUT_BYTES);
    },
  },
  {
    name: 'process/refused-starts',
    says: 'A failed start has the right error code and leaves the id free.',
    async run(context) {
      const wire = await context.ready();
      const start = (argv: readonly string[], more = {}) =>
        wire.refusal('process/start', startParams(context, 'p', argv, more));
      same('empty argv', await start([]), -32602);
      same('plain path as cwd', await start(['true'], { cwd: '/' }), -32602);
      same('no such program', await start(['no-such-program']), -32603);
      same('no such directory', await start(['true'], { cwd: `${context.directory}/none` }), -32603);
      same('good', await start(['true']), 'accepted');
      same('id in use', await start(['true']), -32600);
    },
  },
  {
    name: 'process/environment',
    says: "env is the whole environment; with envPolicy, it is added to the server's filtered one.",
    async run(context) {
      const wire = await context.ready();
      const env = { PATH: '/usr/bin:/bin', ONLY: 'this' };
      await wire.call('process/start', startParams(context, 'bare', ['env'], { env }));
      const lines = outputOf(await wire.story('bare'))
        .trim()
        .split('\n');
      same('variables', lines.sort(), ['ONLY=this', 'PATH=/usr/bin:/bin']);
      const envPolicy = {
        inherit: 'none',
        ignoreDefaultExcludes: false,
        exclude: [],
        set: { SET: '1', DROPPED: '2' },
        includeOnly: ['S*'],
      };
      await wire.call(
        'process/start',
        startParams(context, 'policy', ['/usr/bin/env'], { env: {}, envPolicy }),
      );
      same('with a policy', outputOf(await wire.story('policy')), 'SET=1\n');
    },
  },
  {
    name: 'process/write-once',
    says: 'A write with a known writeId is accepted but not written again.',
    async run(context) {
      const wire = await context.ready();
      await wire.call('process/start', startParams(context, 'p', ['head', '-c', '4'], { pipeStdin: true }));
      const write = (writeId: string, text: string) =>
        wire.call('process/write', { processId: 'p', writeId, chunk: base64(text) });
      same('first', await write('1', 'ab'), { status: 'accepted' });
      same('again', await write('1', 'ab'), { status: 'accepted' });
      same('next', await write('2', 'cd'), { status: 'accepted' });
      same('output', outputOf(await wire.story('p')), 'abcd');
    },
  },
  {
    name: 'process/write-order',
    says: 'Writes sent without waiting reach stdin in the order they were sent.',
    async run(context) {
      const wire = await context.ready();
      const lines = Array.from({ length: PIPELINED_WRITES }, (_, index) => `line ${index}\n`);
      const size = String(lines.join('').length);
      await wire.call('process/start', startParams(context, 'p', ['head', '-c', size], { pipeStdin: true }));
      for (const [index, line] of lines.entries())
        wire.post('process/write', { processId: 'p', writeId: `w${index}`, chunk: base64(line) });
      same('output', outputOf(await wire.story('p')), lines.join(''));
    },
  },
  {
    name: 'process/write-status',
    says: 'A write reports an unknown process or a closed stdin; an invalid write is -32602.',
    async run(context) {
      const wire = await context.ready();
      const write = { processId: 'p', writeId: '1', chunk: '' };
      same('unknown process', await wire.call('process/write', write), { status: 'unknownProcess' });
      await wire.call('process/start', startParams(context, 'p', ['sleep', '60']));
      same('no stdin', await wire.call('process/write', write), { status: 'stdinClosed' });
      same('no writeId', await wire.refusal('process/write', { ...write, writeId: '' }), -32602);
      same('bad base64', await wire.refusal('process/write', { ...write, chunk: '*' }), -32602);
      await wire.call('process/terminate', { processId: 'p' });
    },
  },
  {
    name: 'process/terminal',
    says: 'A terminal has 24 rows and 80 columns, echoes input, and has a single output stream.',
    async run(context) {
      const wire = await context.ready();
      const script = 'stty size; read x; echo got $x >&2';
      await wire.call('process/start', startParams(context, 'p', shell(script), { tty: true }));
      await wire.says('p', '24 80');
      await wire.call('process/write', { processId: 'p', writeId: '1', chunk: base64('word\n') });
      same('screen', outputOf(await wire.story('p'), 'pty'), '24 80\r\nword\r\ngot word\r\n');
    },
  },
  {
    name: 'process/interrupt',
    says: 'interrupt reaches the process group; an unknown process is ignored, an unknown signal is -32602.',
    async run(context) {
      const wire = await context.ready();
      const script = 'trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.05; done';
      await wire.call('process/start', startParams(context, 'p', shell(script)));
      await wire.says('p', 'ready');
      same('signal', await wire.call('process/signal', { processId: 'p', signal: 'interrupt' }), {});
      const events = await wire.story('p');
      holds('the trap did not run', outputOf(events).includes('caught'));
      same('exit code', exitCode(events), 7);
      same(
        'unknown process',
        await wire.call('process/signal', { processId: 'none', signal: 'interrupt' }),
        {},
      );
      same('no name', await wire.refusal('process/signal', { processId: 'p', signal: 'x' }), -32602);
    },
  },
  {
    name: 'process/terminate',
    says: 'terminate kills immediately and reports whether the process was running; the exit code is 137.',
    async run(context) {
      const wire = await context.ready();
      await wire.call('process/start', startParams(context, 'p', ['sleep', '60']));
      same('first', await wire.call('process/terminate', { processId: 'p' }), { running: true });
      same('exit code', exitCode(await wire.story('p')), 137);
      same('again', await wire.call('process/terminate', { processId: 'p' }), { running: false });
      same('unknown process', await wire.call('process/terminate', { processId: 'none' }), {
        running: false,
      });
    },
  },
];
