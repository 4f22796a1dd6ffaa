import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { asIdentity } from '../harness/confined-server.js';
import type { Identity } from '../host/sandbox/harness.js';
import { createRequire } from 'node:module';

const koffi = createRequire(import.meta.url).resolve('koffi');

/**
 * Exchanges the two names in one system call, so that there is never a moment with neither. A short rest now and then lets
 * the server get on: every rename holds up everybody who walks a path.
 */
const SWAP = `
  const koffi = require(process.argv[1]);
  const [, , first, second] = process.argv;
  const library = koffi.load('libc.so.6');
  const swap = library.func(
    'int renameat2(int fromDirectory, const char *from, int toDirectory, const char *to, unsigned int flags)');
  const usleep = library.func('int usleep(unsigned int microseconds)');
  const [AT_FDCWD, RENAME_EXCHANGE] = [-100, 2];
  swap(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
  process.stdout.write('ready');
  for (let round = 1; ; round += 1) {
    swap(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
    if (round % 25 === 0) usleep(round % 100);
  }`;

/** Somebody who swaps a directory and a link as fast as can be, for as long as this is not disposed of. */
export async function startSwapper(
  identity: Identity,
  first: string,
  second: string,
): Promise<AsyncDisposable> {
  const argv = [...asIdentity(identity), process.execPath, '-e', SWAP, koffi, first, second];
  const child = spawn(argv[0] ?? '', argv.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('the swapper did not start'))),
  ]);
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
