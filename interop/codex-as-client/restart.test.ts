import { describe, expect, test } from 'vitest';
import { processEnds } from '../harness/child.js';
import { markerName, servers, startServer } from '../harness/exec-server.js';
import { leavePid, readPid } from '../harness/gate.js';
import {
  execCommand,
  readReport,
  runningSession,
  startCommand,
  writeStdin,
} from '../harness/model-script.js';
import { type Stage, openStage } from '../harness/stage.js';

/** A new server knows nothing of the old session and says so; until then Codex hopes to resume. */
async function resumeIsRefused({ wire }: Stage): Promise<void> {
  const attempt = await wire.first(
    ({ method, params, connection }) =>
      method === 'initialize' && connection > 1 && typeof params?.['resumeSessionId'] === 'string',
  );
  expect((await wire.answerTo(attempt)).error?.code).toBe(-32600);
}

describe.each(servers)('a $name server that is restarted', (kind) => {
  test('serves the next command, in a new session', async () => {
    await using stage = await openStage(kind);
    await using second = await startServer(kind, stage.run);
    await stage.play(async function* () {
      const before = readReport(yield execCommand(`echo "$${markerName}"`));
      expect(before.output).toBe(`${stage.server.marker}\n`);
      stage.proxy.interrupt();
      await stage.server[Symbol.asyncDispose]();
      stage.proxy.leadTo(second.url);
      stage.proxy.restore();
      await resumeIsRefused(stage);
      const after = readReport(yield execCommand(`echo "$${markerName}"`));
      expect(after).toEqual({ exitCode: 0, sessionId: undefined, output: `${second.marker}\n` });
      return 'done';
    });
  });

  test('after a crash fails the command that was running, whose process is gone, and only that one', async () => {
    await using stage = await openStage(kind);
    await using second = await startServer(kind, stage.run);
    await stage.play(async function* () {
      const session = runningSession(yield startCommand(`${leavePid}; exec sleep 600`));
      const pid = await readPid(stage.run.workspace);
      stage.proxy.interrupt();
      await stage.server.crash();
      await processEnds(pid);
      stage.proxy.leadTo(second.url);
      stage.proxy.restore();
      await resumeIsRefused(stage);
      const lost = yield writeStdin(session, '');
      expect(readReport(lost).exitCode).not.toBe(0);
      const after = readReport(yield execCommand(`echo "$${markerName}"`));
      expect(after).toEqual({ exitCode: 0, sessionId: undefined, output: `${second.marker}\n` });
      return 'done';
    });
  });
});
