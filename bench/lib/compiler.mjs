import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bareSource } from './sampler.mjs';

/** Compiles `bench/bare/NAME.c` into a directory; null where there is no C compiler. */
export function compileBare(name, directory) {
  const output = join(directory, name);
  const { error, status } = spawnSync('cc', ['-O2', '-o', output, bareSource(`${name}.c`), '-lutil'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error && 'code' in error && error.code === 'ENOENT') return null;
  if (status !== 0) throw new Error(`cc could not compile ${name}.c`);
  return output;
}
