import { base64, type CaseContext, type ConformanceCase, shell, startParams } from '../case.js';
import { holds, same } from '../verdict.js';
import type { Wire } from '../wire.js';

interface Read {
  readonly chunks: readonly { seq: number; stream: string; chunk: string }[];
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  readonly failure: string | null;
}

async function read(wire: Wire, more: Record<string, unknown> = {}): Promise<Read> {
  return (await wire.call('process/read', { processId: 'p', ...more })) as unknown as Read;
}

function textOf({ chunks }: Read): string {
  return Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk, 'base64'))).toString();
}

/** Starts a program that echoes line by line: every line is a separate chunk. */
async function openEcho(
  context: CaseContext,
): Promise<{ wire: Wire; line: (text: string) => Promise<void> }> {
  const wire = await context.ready();
  const script = 'while read x; do [ "$x" = end ] && exit 5; echo $x; done';
  await wire.call('process/start', startParams(context, 'p', shell(script), { pipeStdin: true }));
  let writes = 0;
  return {
    wire,
    async line(text) {
      writes += 1;
      const write = { processId: 'p', writeId: String(writes), chunk: base64(`${text}\n`) };
      await wire.call('process/write', write);
      if (text !== 'end') await wire.says('p', `${text}\n`);
    },
  };
}

/** Reading output on demand. */
export const readCases: readonly ConformanceCase[] = [
  {
    name: 'read/never-consumes',
    says: 'A read returns the output retained after a number, any number of times.',
    async run(context) {
      const { wire, line } = await openEcho(context);
      for (const text of ['one', 'two', 'three']) await line(text);
      for (let round = 0; round < 2; round += 1) same('all', textOf(await read(wire)), 'one\ntwo\nthree\n');
      const later = await read(wire, { afterSeq: 1 });
      same('after 1', textOf(later), 'two\nthree\n');
      same('nextSeq', later.nextSeq, 4);
      same('after all', (await read(wire, { afterSeq: 3 })).chunks, []);
      await wire.call('process/terminate', { processId: 'p' });
    },
  },
  {
    name: 'read/max-bytes',
    says: 'maxBytes cuts between chunks; the first chunk is always returned; nextSeq follows the last one returned.',
    async run(context) {
      const { wire, line } = await openEcho(context);
      for (const text of ['one', 'two', 'three']) await line(text);
      const least = await read(wire, { maxBytes: 0 });
      same('least', [textOf(least), least.nextSeq], ['one\n', 2]);
      const two = await read(wire, { maxBytes: 8 });
      same('two', [textOf(two), two.nextSeq], ['one\ntwo\n', 3]);
      await wire.call('process/terminate', { processId: 'p' });
    },
  },
  {
    name: 'read/waits',
    says: 'A waiting read returns with the next output, or immediately if there is some already.',
    async run(context) {
      const wire = await context.ready();
      await wire.call('process/start', startParams(context, 'p', shell('sleep 0.2; echo now; sleep 60')));
      const first = await read(wire, { waitMs: 9_000 });
      same('awaited', [textOf(first), first.exited], ['now\n', false]);
      same('there already', textOf(await read(wire, { waitMs: 9_000 })), 'now\n');
      const none = await read(wire, { afterSeq: 1, waitMs: 20 });
      same('nothing new', [none.chunks, none.exited], [[], false]);
      await wire.call('process/terminate', { processId: 'p' });
    },
  },
  {
    name: 'read/after-the-end',
    says: 'After the close, a read returns the exit code, and nextSeq is one past the close.',
    async run(context) {
      const { wire, line } = await openEcho(context);
      await line('one');
      await line('end');
      const events = await wire.story('p');
      const end = await read(wire);
      same('text', textOf(end), 'one\n');
      const { exited, exitCode, closed, failure } = end;
      same(
        'end',
        { exited, exitCode, closed, failure },
        { exited: true, exitCode: 5, closed: true, failure: null },
      );
      same('nextSeq', end.nextSeq, events.length + 1);
    },
  },
  {
    name: 'read/waits-for-the-close',
    says: 'A read after the exit number waits until the output is closed.',
    async run(context) {
      const wire = await context.ready();
      await wire.call('process/start', startParams(context, 'p', shell('sleep 0.3 & exit 0')));
      const exit = await wire.until('the exit', () =>
        wire.notifications.find(({ method }) => method === 'process/exited'),
      );
      const closed = await read(wire, { afterSeq: exit.params.seq, waitMs: 9_000 });
      same('closed', closed.closed, true);
    },
  },
  {
    name: 'read/refusals',
    says: 'An unknown process is -32600 immediately; numbers must be unsigned.',
    async run(context) {
      const wire = await context.ready();
      const begun = performance.now();
      same(
        'unknown process',
        await wire.refusal('process/read', { processId: 'none', waitMs: 5_000 }),
        -32600,
      );
      holds('it waited for a process that does not exist', performance.now() - begun < 4_000);
      for (const afterSeq of [-1, 1.5, '1'])
        same('afterSeq', await wire.refusal('process/read', { processId: 'p', afterSeq }), -32602);
    },
  },
];
