import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { asIdentity } from '../harness/confined-server.js';
import type { Identity } from '../host/sandbox/harness.js';
import { PYTHON } from './escapes/site.js';

/**
 * Exchanges the two names in one system call, so that there is never a moment with neither. A short rest now and then lets
 * the server get on: every rename holds up everybody who walks a path.
 */
const SWAP = `
import ctypes, os, sys, time
first, second = map(os.fsencode, sys.argv[1:])
swap = ctypes.CDLL(None).renameat2
AT_FDCWD, RENAME_EXCHANGE = -100, 2
swap(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)
os.write(1, b'ready')
number = 0
while True:
    number += 1
    swap(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)
    if number % 25 == 0: time.sleep(number % 100 / 1e6)`;

export interface Swapper extends AsyncDisposable {
  /** Nothing is swapped from when this returns until `resume`. */
  pause(): void;
  resume(): void;
}

/** Somebody who swaps a directory and a link as fast as can be, for as long as this is not disposed of. */
export async function startSwapper(identity: Identity, first: string, second: string): Promise<Swapper> {
  const argv = [...asIdentity(identity), PYTHON, '-Ic', SWAP, first, second];
  const child = spawn(argv[0] ?? '', argv.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('the swapper did not start'))),
  ]);
  return {
    pause: () => {
      child.kill('SIGSTOP');
      while (!/\) T/.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')));
    },
    resume: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
