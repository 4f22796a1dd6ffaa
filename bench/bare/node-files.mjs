// What moving whole files costs with nothing but Node: reads or writes the file given, once per sample.
import { readFile, writeFile } from 'node:fs/promises';
import { serveSamples } from './serve-samples.mjs';

const [verb, path, byteCount] = process.argv.slice(2);
const content = verb === 'write' ? Buffer.alloc(Number(byteCount), 'written ') : null;
await serveSamples(async () => {
  const begun = performance.now();
  if (content) await writeFile(path, content);
  else await readFile(path);
  return performance.now() - begun;
});
