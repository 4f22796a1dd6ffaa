// What `/bin/true` costs with nothing but Node, from spawn to the end of its output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { serveSamples } from './serve-samples.mjs';

await serveSamples(async () => {
  const begun = performance.now();
  const child = spawn('/bin/true', { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
  return performance.now() - begun;
});
