import { once } from 'node:events';
import { expect, test } from 'vitest';
import { launch } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';

const library = new URL('../../dist/library/index.js', import.meta.url).href;

/** A program that opens an environment and never closes it. It says `done` after its last line. */
function careless(place: string, lines: string) {
  const code = `import { openEnvironment } from '${library}';
    const env = await openEnvironment('${place}');
    ${lines}
    console.log('done');`;
  return launch([process.execPath, '--input-type=module', '-e', code]);
}

/** What it says once it has nothing left to do but wait, and gets a line. */
async function saidAfterwards(child: ReturnType<typeof launch>): Promise<string> {
  let said = '';
  for await (const piece of child.stdout) {
    said += String(piece);
    if (said.endsWith('done\n')) child.stdin.write('\n');
  }
  return said;
}

test('an open local environment keeps no process alive, not even after an early end of a loop', async () => {
  const child = careless(
    'local',
    `await env.run(['true']); for await (const line of env.lines(['yes'])) break;`,
  );
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('a running program does, until it ends', async () => {
  const child = careless(
    'local',
    `const cat = await env.start({ argv: ['sh', '-c', 'echo ready; exec cat'], pipeStdin: true });
     for await (const line of cat.lines()) break;
     process.stdin.once('data', () => { console.log('alive'); cat.closeStdin(); }); process.stdin.unref();`,
  );
  const closed = once(child, 'close');
  expect(await saidAfterwards(child)).toBe('done\nalive\n');
  expect(await closed).toEqual([0, null]);
});

test('a connection does, until it is closed', async () => {
  await using server = await ServerProcess.start();
  const child = careless(
    server.url,
    `await env.run(['true']); process.stdin.once('data', () => { console.log('alive'); env.close(); }); process.stdin.unref();`,
  );
  const closed = once(child, 'close');
  expect(await saidAfterwards(child)).toBe('done\nalive\n');
  expect(await closed).toEqual([0, null]);
});
