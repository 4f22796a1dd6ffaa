import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

const folder = fileURLToPath(new URL('../../examples/agent-tools/', import.meta.url));

test.each(['agent.mjs', 'openai-agent.mjs'])('%s finds its answer', async (name) => {
  // Without the profile of whoever runs the tests.
  using home = new TestFolder();
  const env = { ...process.env, HOME: home.path };
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, name)], { env });
  expect(stdout).toBe('The answer is 42.\n');
});
