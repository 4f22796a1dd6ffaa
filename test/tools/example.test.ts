import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

const example = fileURLToPath(new URL('../../examples/agent-tools/agent.mjs', import.meta.url));

test('the agent of the example finds its answer', async () => {
  // Without the profile of whoever runs the tests.
  using home = new TestFolder();
  const env = { ...process.env, HOME: home.path };
  const { stdout } = await promisify(execFile)(process.execPath, [example], { env });
  expect(stdout).toBe('The answer is 42.\n');
});
