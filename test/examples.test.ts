import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { whyNot } from './harness/needed-programs.js';

const examples = fileURLToPath(new URL('../examples', import.meta.url));
const stories = readdirSync(examples).filter((name) => existsSync(`${examples}/${name}/main.mjs`));

test.for(stories)('the example %s holds what it shows', async (name, { skip }) => {
  const main = `${examples}/${name}/main.mjs`;
  const reason = whyNot(main);
  skip(reason !== null, reason ?? undefined);
  // A group of its own: what the example started ends with it.
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // Ended before the test's own time is up, so that a failure shows what was said until then.
  const late = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), 25_000);
  onTestFinished(() => clearTimeout(late));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      said += data.toString();
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  // What it said tells where it failed.
  expect({ code, said }).toEqual({ code: 0, said });
});
