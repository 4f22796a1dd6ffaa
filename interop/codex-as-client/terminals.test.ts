import { describe, expect, test } from 'vitest';
import { servers } from '../harness/exec-server.js';
import { readReport, runningSession, startCommand, writeStdin } from '../harness/model-script.js';
import { type Stage, openStage } from '../harness/stage.js';
import { outputText } from '../harness/wire-log.js';

const ctrlC = '\u0003';
const ctrlD = '\u0004';

// Says when the trap is set, since an interrupt before that would end the shell in another way.
const waitForInterrupt = `trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.02; done`;

async function outputPasses(stage: Stage, text: string): Promise<void> {
  await stage.wire.first((message) => outputText(message).includes(text));
}

describe.each(servers)('terminals of Codex on $name', (kind) => {
  test('tty: true gives a real terminal of 24 rows and 80 columns', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const first = yield startCommand('tty; stty size; read -r line; echo "got $line"', { tty: true });
      // What is typed shows at once, wherever the program has come to by then.
      await outputPasses(stage, '24 80');
      const second = yield writeStdin(runningSession(first), 'hello\n');
      expect(readReport(second).exitCode).toBe(0);
      expect(readReport(first).output + readReport(second).output).toMatch(
        /^\/dev\/pts\/\d+\r?\n24 80\r?\nhello\r?\ngot hello\r?\n$/,
      );
      return 'done';
    });
    const streams = stage.wire.messages
      .filter(({ method }) => method === 'process/output')
      .map(({ params }) => params?.['stream']);
    expect(new Set(streams)).toEqual(new Set(['pty']));
  });

  test('what is typed arrives once and in order, up to the end of input', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const reports = [
        yield startCommand('stty -echo; while read -r l; do echo "<$l>"; done; echo end', { tty: true }),
      ];
      const session = runningSession(reports[0] ?? '');
      for (const chars of ['one\n', 'two\n', 'thr']) reports.push(yield writeStdin(session, chars, 250));
      reports.push(yield writeStdin(session, `ee\n${ctrlD}`));
      const outputs = reports.map((report) => readReport(report).output).join('');
      expect(outputs.replaceAll('\r', '').replaceAll(/^(?!<|end).*\n/gm, '')).toBe(
        '<one>\n<two>\n<three>\nend\n',
      );
      expect(readReport(reports.at(-1) ?? '').exitCode).toBe(0);
      return 'done';
    });
    const writes = stage.wire.requests('process/write');
    expect(writes.map(({ params }) => params?.['writeId'])).toEqual(['1', '2', '3', '4']);
    for (const write of writes) {
      expect((await stage.wire.answerTo(write)).result).toEqual({ status: 'accepted' });
    }
  });

  test('Ctrl-C on a terminal is typed and interrupts what runs there', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const session = runningSession(yield startCommand(waitForInterrupt, { tty: true }));
      await outputPasses(stage, 'ready');
      const report = readReport(yield writeStdin(session, ctrlC));
      expect(report.output).toContain('caught');
      expect(report.exitCode).toBe(7);
      return 'done';
    });
    expect(stage.wire.requests('process/signal')).toEqual([]);
  });

  test('Ctrl-C without a terminal is a signal to the whole group', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const trapping = runningSession(yield startCommand(waitForInterrupt));
      await outputPasses(stage, 'ready');
      const report = readReport(yield writeStdin(trapping, ctrlC));
      expect(report.output).toContain('caught');
      expect(report.exitCode).toBe(7);

      const plain = runningSession(yield startCommand('echo asleep; exec sleep 600'));
      await outputPasses(stage, 'asleep');
      expect(readReport(yield writeStdin(plain, ctrlC)).exitCode).toBe(130);
      return 'done';
    });
    const signals = stage.wire.requests('process/signal');
    expect(signals.map(({ params }) => params?.['signal'])).toEqual(['interrupt', 'interrupt']);
  });

  test('typing into a command without a terminal is refused before it reaches the server', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const session = runningSession(yield startCommand('echo up; exec sleep 600'));
      expect(yield writeStdin(session, 'hello\n')).toMatch(/stdin/i);
      return 'done';
    });
    expect(stage.wire.requests('process/write')).toEqual([]);
  });
});
