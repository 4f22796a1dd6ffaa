// What an echo costs with nothing but Node: write to `cat`, wait for its output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { serveSamples } from './serve-samples.mjs';

const cat = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
await serveSamples(async () => {
  const begun = performance.now();
  cat.stdin.write('hello\n');
  await once(cat.stdout, 'data');
  return performance.now() - begun;
});
cat.stdin.end();
