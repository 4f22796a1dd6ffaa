import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { hasThreads } from '../../../src/host/sandbox/launch/process-state.js';

test('a process with threads is told from one without', async () => {
  const cat = spawn('cat');
  await once(cat, 'spawn');
  expect(hasThreads(cat.pid ?? -1)).toBe(false);
  expect(hasThreads(process.pid)).toBe(true);
  cat.stdin.end();
  await once(cat, 'exit');
  expect(hasThreads(cat.pid ?? -1)).toBe(false);
});
