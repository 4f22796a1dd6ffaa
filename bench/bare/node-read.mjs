// What reading a small file costs with nothing but Node.
import { readFile } from 'node:fs/promises';
import { serveSamples } from './serve-samples.mjs';

const path = process.argv[2];
await serveSamples(async () => {
  const begun = performance.now();
  await readFile(path);
  return performance.now() - begun;
});
