import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { servers } from '../harness/exec-server.js';
import { type ModelScript, execCommand } from '../harness/model-script.js';
import { type Stage, openStage } from '../harness/stage.js';

async function* runNothing(): ModelScript {
  yield execCommand('true');
  return 'done';
}

async function addFile({ run }: Stage, name: string, lines: readonly string[]): Promise<string> {
  const path = join(run.workspace, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `${lines.join('\n')}\n`);
  return pathToFileURL(path).href;
}

function filesRead({ wire }: Stage): unknown[] {
  return wire.requests('fs/readFile').map(({ params }) => params?.['path']);
}

describe.each(servers)('what Codex finds in the workspace on $name', (kind) => {
  test('AGENTS.md reaches the model', async () => {
    await using stage = await openStage(kind);
    const file = await addFile(stage, 'AGENTS.md', ['Always answer in rhymes about lighthouses.']);
    const { requests } = await stage.play(runNothing);
    expect(JSON.stringify(requests[0]?.input)).toContain('rhymes about lighthouses');
    expect(filesRead(stage)).toContain(file);
  });

  test('a skill in .agents/skills is offered to the model', async () => {
    await using stage = await openStage(kind);
    const file = await addFile(stage, '.agents/skills/lighthouse/SKILL.md', [
      '---',
      'name: lighthouse',
      'description: Tells ships where the rocks are.',
      '---',
      'Shine.',
    ]);
    const { requests } = await stage.play(runNothing);
    expect(JSON.stringify(requests[0]?.input)).toContain('lighthouse: Tells ships where the rocks are.');
    expect(filesRead(stage)).toContain(file);
  });

  test.each(['danger-full-access', 'workspace-write'] as const)(
    'skills of the server’s own user are offered to the model, %s',
    async (sandbox) => {
      // The real server remembers what it found when it started.
      await using stage = await openStage(kind, async ({ serverHome }) => {
        const folder = join(serverHome, 'skills/harbour');
        await mkdir(folder, { recursive: true });
        const skill = '---\nname: harbour\ndescription: Calls the pilot.\n---\nCall.\n';
        await writeFile(join(folder, 'SKILL.md'), skill);
      });
      const features = ['executor_capability_discovery_v2'];
      const { requests } = await stage.play(runNothing, { sandbox, features });
      // Codex does not wait with its first question until it knows.
      const offered = requests.some(({ input }) =>
        JSON.stringify(input).includes('harbour: Calls the pilot.'),
      );
      expect(offered).toBe(true);
      const [asked] = stage.wire.requests('capabilities/discoverV2');
      if (!asked) throw new Error('nobody asked');
      expect((await stage.wire.answerTo(asked)).result).toMatchObject({
        plugins: [],
        skills: [{ name: 'harbour' }],
        warnings: [],
      });
    },
  );

  test('an empty workspace is no error', async () => {
    await using stage = await openStage(kind);
    const { lastMessage } = await stage.play(runNothing);
    expect(lastMessage).toBe('done');
    const asked = stage.wire.requests('fs/getMetadata');
    expect(asked.length).toBeGreaterThan(0);
    for (const request of asked) {
      const { error, result } = await stage.wire.answerTo(request);
      // Something above the workspace may exist on this machine; what does not must be "not found" and nothing else.
      expect(error?.code ?? result).toEqual(result ?? -32004);
    }
  });
});
