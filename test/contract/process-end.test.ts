import { expect, test } from 'vitest';
import { exitFacts, logEnd, ProcessLog } from '../../src/contract/index.js';

type Told = Parameters<typeof exitFacts>[0];

/** The end of a log that was told of an exit like this. */
async function endAfter(told: Told): Promise<unknown> {
  const log = new ProcessLog();
  const end = logEnd(log);
  log.appendExited(exitFacts(told));
  log.appendClosed();
  return await end;
}

test.each<[string, Told, unknown]>([
  ['exited', { exitCode: 3 }, { kind: 'exited', exitCode: 3 }],
  [
    'killed by a signal',
    { exitCode: 143, signal: 'SIGTERM' },
    { kind: 'signalled', exitCode: 143, signal: 'SIGTERM' },
  ],
  ['out of time', { exitCode: 137, signal: 'SIGKILL', timedOut: true }, { kind: 'timedOut', exitCode: 137 }],
  ['killed by what nobody names', { exitCode: 137, signal: null }, { kind: 'exited', exitCode: 137 }],
  ['killed by no signal there is', { exitCode: 137, signal: 'kill' }, { kind: 'exited', exitCode: 137 }],
])('%s', async (_, told, end) => {
  expect(await endAfter(told)).toEqual(end);
});

test('contact lost before an exit was seen is no exit', async () => {
  const log = new ProcessLog();
  const error = new Error('gone');
  log.fail(error);
  expect(await logEnd(log)).toEqual({ kind: 'contactLost', error });
});

test('an exit that was seen stands, whatever is lost behind it', async () => {
  const log = new ProcessLog();
  log.appendExited(exitFacts({ exitCode: 0 }));
  log.fail(new Error('gone'));
  expect(await logEnd(log)).toEqual({ kind: 'exited', exitCode: 0 });
});
