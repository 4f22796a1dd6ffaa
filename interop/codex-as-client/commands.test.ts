import { describe, expect, test } from 'vitest';
import { processEnds } from '../harness/child.js';
import { markerName, servers } from '../harness/exec-server.js';
import { leavePid, openGate, readPid, waitAtGate } from '../harness/gate.js';
import {
  execCommand,
  readReport,
  runningSession,
  startCommand,
  writeStdin,
} from '../harness/model-script.js';
import { openStage } from '../harness/stage.js';

describe.each(servers)('commands of Codex on $name', (kind) => {
  test('a command runs inside the server, in the directory Codex works in', async () => {
    await using stage = await openStage(kind);
    const { lastMessage } = await stage.play(async function* () {
      const report = yield execCommand(`echo "$${markerName}"; pwd`);
      expect(readReport(report)).toEqual({
        exitCode: 0,
        sessionId: undefined,
        output: `${stage.server.marker}\n${stage.run.workspace}\n`,
      });
      return 'all good';
    });
    expect(lastMessage).toBe('all good');
  });

  test('a failing command reports its status and what it wrote to stderr', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      expect(readReport(yield execCommand('echo oops >&2; exit 3'))).toMatchObject({
        exitCode: 3,
        output: 'oops\n',
      });
      expect(readReport(yield execCommand('kill -KILL $$'))).toMatchObject({ exitCode: 137 });
      return 'done';
    });
  });

  test('a directory that does not exist is an error for that call; the next command runs', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const refused = yield execCommand('echo never', { workdir: `${stage.run.workspace}/missing` });
      expect(readReport(refused)).toMatchObject({ exitCode: undefined, sessionId: undefined });
      expect(refused).not.toContain('never\n');
      expect(readReport(yield execCommand('echo still here')).output).toBe('still here\n');
      return 'done';
    });
  });

  test('a long command is left running, then waited for', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const first = yield startCommand(`echo started; ${waitAtGate('go')}; echo finished; exit 4`);
      await openGate(stage.run.workspace, 'go');
      const second = yield writeStdin(runningSession(first), '');
      expect(readReport(second).exitCode).toBe(4);
      expect(readReport(first).output + readReport(second).output).toBe('started\nfinished\n');
      return 'done';
    });
  });

  test('two commands run side by side and keep their output apart', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      const one = yield startCommand(`${waitAtGate('go-one')}; echo one`);
      const two = yield startCommand(`${waitAtGate('go-two')}; echo two`);
      await openGate(stage.run.workspace, 'go-two');
      expect(readReport(yield writeStdin(runningSession(two), '')).output).toBe('two\n');
      await openGate(stage.run.workspace, 'go-one');
      expect(readReport(yield writeStdin(runningSession(one), '')).output).toBe('one\n');
      return 'done';
    });
  });

  test('a command still running when Codex ends is terminated', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      runningSession(yield startCommand(`${leavePid}; exec sleep 600`));
      await readPid(stage.run.workspace);
      return 'done';
    });
    const [started] = stage.wire.requests('process/start');
    const terminated = stage.wire.requests('process/terminate').map(({ params }) => params?.['processId']);
    expect(terminated).toContain(started?.params?.['processId']);
    await processEnds(await readPid(stage.run.workspace));
  });
});
