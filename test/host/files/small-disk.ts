import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { benchDirectory } from './bench-directory.js';

/** Room for a few small files. */
const DISK_BYTES = 1024 * 1024;

export interface SmallDisk extends Disposable {
  readonly path: string;
  /** What the system says when a file does not fit. */
  readonly message: string;
}

/**
 * A place where a file of 2 MiB does not fit: a small file system of its own where one can be mounted (as root),
 * otherwise a limit on the size of files for this process, which fails in the middle of a write just the same.
 */
export function openSmallDisk(): SmallDisk {
  const bench = benchDirectory();
  const path = bench.at('disk');
  mkdirSync(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    return limitFileSize(bench, path);
  }
  return {
    path,
    message: 'No space left on device (os error 28)',
    [Symbol.dispose]: () => {
      execFileSync('umount', [path]);
      bench[Symbol.dispose]();
    },
  };
}

function limitFileSize(bench: Disposable, path: string): SmallDisk {
  const setLimit = (limit: string): void =>
    void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${limit}:`]);
  const ignore = (): void => undefined;
  process.on('SIGXFSZ', ignore);
  setLimit(String(DISK_BYTES));
  return {
    path,
    message: 'File too large (os error 27)',
    [Symbol.dispose]: () => {
      setLimit('unlimited');
      process.off('SIGXFSZ', ignore);
      bench[Symbol.dispose]();
    },
  };
}
