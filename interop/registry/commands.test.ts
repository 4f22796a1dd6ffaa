import { describe, expect, test } from 'vitest';
import { markerName } from '../harness/exec-server.js';
import { fileAppears, openGate, waitAtGate } from '../harness/gate.js';
import {
  execCommand,
  readReport,
  runningSession,
  startCommand,
  writeStdin,
} from '../harness/model-script.js';
import { callUrl, type executors, startClient, startRegistry } from '../harness/registry.js';
import { openRegistryStage } from '../harness/registry-stage.js';

const kinds: (keyof typeof executors)[] = ['codex', 'execwire'];

describe.each(kinds)('%s at a registry of ours, used by Codex', (kind) => {
  test('a command runs on the machine, which only dials out', async () => {
    await using stage = await openRegistryStage(kind);
    await stage.play(async function* () {
      const report = yield execCommand(`echo "$${markerName}"; pwd; exit 3`);
      expect(readReport(report)).toMatchObject({
        exitCode: 3,
        output: `${stage.marker}\n${stage.run.workspace}\n`,
      });
      const many = readReport(yield execCommand('seq 1 2000 | md5sum'));
      expect(many.output).toMatch(/^[0-9a-f]{32} /);
      return 'done';
    });
    // Neither arguments nor output pass through the registry readably, and no secret is logged.
    expect(stage.registry.log()).not.toMatch(new RegExp(`${stage.marker}|rendezvous|Bearer`));
  });

  test('our own client uses it, too', async () => {
    await using stage = await openRegistryStage(kind);
    await using client = startClient(callUrl(stage.clientSide.url), stage.run, ['seq', '20000']);
    expect(await client.ended).toEqual({ code: 0, signal: null });
    expect(client.stdout).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
  });

  test('what a command prints after the machine was cut off is not lost', async () => {
    await using stage = await openRegistryStage(kind);
    const { workspace } = stage.run;
    await stage.play(async function* () {
      const first = yield startCommand(printsInBetween);
      stage.machineSide.interrupt();
      await openGate(workspace, 'go');
      await fileAppears(workspace, 'printed');
      stage.machineSide.restore();
      await stage.registry.says('a client is connected', 2);
      await openGate(workspace, 'end');
      const second = yield writeStdin(runningSession(first), '');
      expect(readReport(first).output + readReport(second).output).toBe('before\nduring\nafter\n');
      expect(readReport(second).exitCode).toBe(0);
      return 'done';
    });
  });

  // Codex gives up if it cannot reach the registry at once, so the line is back when it tries.
  test('a client whose line is cut goes on where it was', async () => {
    await using stage = await openRegistryStage(kind);
    const { workspace } = stage.run;
    await stage.play(async function* () {
      const first = yield startCommand(printsInBetween);
      stage.clientSide.cut();
      await openGate(workspace, 'go');
      await stage.registry.says('a client is connected', 2);
      await openGate(workspace, 'end');
      const second = yield writeStdin(runningSession(first), '');
      expect(readReport(first).output + readReport(second).output).toBe('before\nduring\nafter\n');
      expect(readReport(second).exitCode).toBe(0);
      return 'done';
    });
  });

  test.each(['clientSide', 'machineSide'] as const)(
    'a cut of the %s in the middle of output loses and repeats nothing',
    async (side) => {
      await using stage = await openRegistryStage(kind);
      const lines = Array.from({ length: 400 }, (_, index) => `line-${index + 1}\n`);
      await stage.play(async function* () {
        // After the handshake, and long before the end of the output.
        void stage.clientSide.afterBytes(15_000).then(() => stage[side].cut());
        const report = readReport(
          yield execCommand('for i in $(seq 1 400); do echo line-$i; sleep 0.005; done'),
        );
        expect(report).toMatchObject({ exitCode: 0, output: lines.join('') });
        return 'done';
      });
      await stage.registry.says('a client is connected', 2);
    },
  );

  test('a registry that was killed and started again is found by its machines', async () => {
    await using stage = await openRegistryStage(kind);
    await stage.registry.crash();
    await using registry = await startRegistry(stage.run, stage.registry.url);
    await registry.says('a machine is connected');
    await stage.play(async function* () {
      expect(readReport(yield execCommand('echo here')).output).toBe('here\n');
      return 'done';
    });
  });
});

const printsInBetween = `echo before; ${waitAtGate('go')}; echo during; touch printed; ${waitAtGate('end')}; echo after`;
