import { setTimeout as pause } from 'node:timers/promises';
import { base64, type CaseContext, type ConformanceCase, shell, startParams } from '../case.js';
import { same } from '../verdict.js';
import { outputOf, type Wire } from '../wire.js';

/** How often to try to resume, and how long to wait in between: five seconds in total. */
const RESUME_ATTEMPTS = 100;
const RESUME_PAUSE_MS = 50;
const SESSION_BUSY = -32010;

/** The server may need a moment to notice that a connection has ended; until then the session is busy. */
async function resume(context: CaseContext, sessionId: string): Promise<Wire> {
  const params = { clientName: 'conformance', resumeSessionId: sessionId };
  for (let attempt = 1; ; attempt += 1) {
    const wire = await context.open();
    const { error } = await wire.ask('initialize', params);
    if (error === undefined) {
      wire.send('{"method":"initialized","params":{}}');
      return wire;
    }
    if (error.code !== SESSION_BUSY || attempt === RESUME_ATTEMPTS) same('resume', error.code, 'accepted');
    wire.close();
    await pause(RESUME_PAUSE_MS);
  }
}

/** What outlives a connection. */
export const sessionCases: readonly ConformanceCase[] = [
  {
    name: 'session/resume',
    says: 'Processes outlive a connection; missed output can be read; numbers continue; write ids stay known.',
    reconnects: true,
    async run(context) {
      const first = await context.open();
      const sessionId = await first.handshake();
      // It ends only when told to: on servers where an exit can overtake output, that must not change the numbers.
      const script = 'read a; echo $a; read b; echo $b; read c';
      await first.call('process/start', startParams(context, 'p', shell(script), { pipeStdin: true }));
      const one = { processId: 'p', writeId: '1', chunk: base64('one\n') };
      await first.call('process/write', one);
      await first.says('p', 'one');
      first.close();
      await first.untilClosed();
      const second = await resume(context, sessionId);
      same('again', await second.call('process/write', one), { status: 'accepted' });
      await second.call('process/write', { processId: 'p', writeId: '2', chunk: base64('two\n') });
      await second.says('p', 'two');
      const { chunks } = await second.call('process/read', { processId: 'p' });
      const texts = (chunks as { seq: number; chunk: string }[]).map(({ seq, chunk }) => [
        seq,
        Buffer.from(chunk, 'base64').toString(),
      ]);
      same('output', texts, [
        [1, 'one\n'],
        [2, 'two\n'],
      ]);
      await second.call('process/write', { processId: 'p', writeId: '3', chunk: base64('three\n') });
      const waiting = await second.call('process/read', { processId: 'p', afterSeq: 2, waitMs: 5_000 });
      same('exit code', waiting['exitCode'], 0);
    },
  },
  {
    name: 'session/busy',
    says: 'Resuming a session that is attached elsewhere is -32010, and its owner keeps it.',
    reconnects: true,
    async run(context) {
      const owner = await context.open();
      const sessionId = await owner.handshake();
      const other = await context.open();
      const params = { clientName: 'x', resumeSessionId: sessionId };
      same('code', await other.refusal('initialize', params), -32010);
      same('owner', await owner.call('environment/status'), { status: 'ready' });
    },
  },
  {
    name: 'session/private-ids',
    says: 'Process ids belong to one session; another session may use the same id.',
    reconnects: true,
    async run(context) {
      const [one, other] = [await context.ready(), await context.ready()];
      await one.call('process/start', startParams(context, 'p', ['sleep', '60']));
      same('read', await other.refusal('process/read', { processId: 'p' }), -32600);
      same('terminate', await other.call('process/terminate', { processId: 'p' }), { running: false });
      await other.call('process/start', startParams(context, 'p', ['echo', 'mine']));
      same('output', outputOf(await other.story('p')), 'mine\n');
      same('still running', await one.call('process/terminate', { processId: 'p' }), { running: true });
    },
  },
];
