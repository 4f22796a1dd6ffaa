import { expect, test } from 'vitest';
import { runUpgrade } from '../../test/harness/upgrade.js';
import { bin } from '../../testkit/launch.mjs';
import { execwireServer, type ServerKind } from '../harness/exec-server.js';
import { fileAppears, openGate, waitAtGate } from '../harness/gate.js';
import {
  execCommand,
  readReport,
  runningSession,
  startCommand,
  writeStdin,
} from '../harness/model-script.js';
import { openRunDirectory } from '../harness/run-directory.js';
import { openStage } from '../harness/stage.js';

test('Codex does not notice that its server is replaced', async () => {
  await using state = await openRunDirectory();
  const durable: ServerKind = {
    ...execwireServer,
    argv: (listen) => [
      process.execPath,
      bin,
      'serve',
      '--listen',
      listen,
      '--durable',
      `${state.outside}/state`,
    ],
  };
  await using stage = await openStage(durable);
  const { workspace } = stage.run;
  await stage.play(async function* () {
    const first = yield startCommand(
      `echo before; touch begun; ${waitAtGate('go')}; echo during; touch printed; ${waitAtGate('end')}; echo after`,
    );
    await fileAppears(workspace, 'begun');
    expect(await runUpgrade(stage.server.url)).toMatchObject({ code: 0 });
    await openGate(workspace, 'go');
    await fileAppears(workspace, 'printed');
    expect(await runUpgrade(stage.server.url)).toMatchObject({ code: 0 });
    await openGate(workspace, 'end');
    const second = yield writeStdin(runningSession(first), '');
    expect(readReport(first).output + readReport(second).output).toBe('before\nduring\nafter\n');
    expect(readReport(second).exitCode).toBe(0);
    expect(readReport(yield execCommand('echo next')).output).toBe('next\n');
    return 'done';
  });
  // One connection, from the beginning to the end.
  expect(stage.wire.requests('initialize').length).toBe(1);
});
