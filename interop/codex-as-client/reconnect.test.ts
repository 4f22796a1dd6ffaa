import { describe, expect, test } from 'vitest';
import { servers } from '../harness/exec-server.js';
import { fileAppears, openGate, waitAtGate } from '../harness/gate.js';
import {
  execCommand,
  readReport,
  runningSession,
  startCommand,
  writeStdin,
} from '../harness/model-script.js';
import { type Stage, openStage } from '../harness/stage.js';
import { outputText } from '../harness/wire-log.js';

async function outputPasses(stage: Stage, text: string): Promise<void> {
  await stage.wire.first((message) => outputText(message).includes(text));
}

/** Codex has come back on another connection and asked what it missed. */
async function hasCaughtUp(stage: Stage): Promise<void> {
  const read = await stage.wire.first(
    ({ connection, from, method }) => connection > 1 && from === 'client' && method === 'process/read',
  );
  await stage.wire.answerTo(read);
}

async function expectOneSession({ wire }: Stage): Promise<void> {
  const [first, ...later] = wire.requests('initialize');
  const sessionId = first && (await wire.answerTo(first)).result?.['sessionId'];
  expect(sessionId).toEqual(expect.any(String));
  expect(later.length).toBeGreaterThan(0);
  for (const { params } of later) expect(params?.['resumeSessionId']).toBe(sessionId);
}

describe.each(servers)('a connection of Codex that breaks on $name', (kind) => {
  test('what a command prints while nobody is connected is not lost', async () => {
    await using stage = await openStage(kind);
    const { workspace } = stage.run;
    await stage.play(async function* () {
      const first = yield startCommand(
        `echo before; ${waitAtGate('go')}; echo during; touch printed; ${waitAtGate('end')}; echo after`,
      );
      await outputPasses(stage, 'before');
      stage.proxy.interrupt();
      await openGate(workspace, 'go');
      await fileAppears(workspace, 'printed');
      stage.proxy.restore();
      await hasCaughtUp(stage);
      await openGate(workspace, 'end');
      const second = yield writeStdin(runningSession(first), '');
      expect(readReport(second).exitCode).toBe(0);
      expect(readReport(first).output + readReport(second).output).toBe('before\nduring\nafter\n');
      return 'done';
    });
    await expectOneSession(stage);
  });

  test('a command that ends while nobody is connected still reports its end', async () => {
    await using stage = await openStage(kind);
    const { workspace } = stage.run;
    await stage.play(async function* () {
      const first = yield startCommand(`${waitAtGate('go')}; echo last words; touch ended; exit 9`);
      stage.proxy.interrupt();
      await openGate(workspace, 'go');
      await fileAppears(workspace, 'ended');
      stage.proxy.restore();
      expect(readReport(yield writeStdin(runningSession(first), ''))).toMatchObject({
        exitCode: 9,
        output: 'last words\n',
      });
      return 'done';
    });
    await expectOneSession(stage);
  });

  test('a break in the middle of a message in the middle of the output loses and repeats nothing', async () => {
    await using stage = await openStage(kind);
    const lines = Array.from({ length: 400 }, (_, index) => `line-${index + 1}\n`);
    stage.tap.breakInside((message) => outputText(message).includes('line-200\n'));
    await stage.play(async function* () {
      const report = readReport(yield execCommand('for i in $(seq 1 400); do echo line-$i; done'));
      expect(report).toMatchObject({ exitCode: 0, output: lines.join('') });
      return 'done';
    });
    await expectOneSession(stage);
  });

  test('input whose answer was lost is typed once', async () => {
    await using stage = await openStage(kind);
    stage.tap.breakInside(({ result }) => result?.['status'] === 'accepted');
    await stage.play(async function* () {
      const first = yield startCommand(
        'stty -echo; echo up; while read -r l; do echo "<$l>"; [ "$l" = bye ] && exit 5; done',
        { tty: true },
      );
      await outputPasses(stage, 'up');
      const second = yield writeStdin(runningSession(first), 'once\n', 250);
      const third = yield writeStdin(runningSession(first), 'bye\n');
      expect(readReport(third).exitCode).toBe(5);
      const output = [first, second, third].map((report) => readReport(report).output).join('');
      expect(output.match(/<.*>/g)).toEqual(['<once>', '<bye>']);
      return 'done';
    });
    const writeIds = stage.wire.requests('process/write').map(({ params }) => params?.['writeId']);
    expect(writeIds).toEqual(['1', '1', '2']);
    await expectOneSession(stage);
  });
});
