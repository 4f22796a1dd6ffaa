import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const example = fileURLToPath(new URL('../../examples/agent-tools/agent.mjs', import.meta.url));

test('the agent of the example finds its answer', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example]);
  expect(stdout).toBe('The answer is 42.\n');
});
