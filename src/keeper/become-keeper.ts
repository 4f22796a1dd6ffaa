import { fileURLToPath } from 'node:url';
import { libc, linux } from '../host/kernel/index.js';
import { packageFile } from '../host/kernel/package-file.js';
import { passedSockets } from './service-manager.js';

/** The keeper should need little memory, and has little to compile. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--single-threaded', '--no-opt'];

/**
 * Turns this process into the keeper of the server it would have been, with the same process id. Returns only if that
 * fails, with the reason.
 */
export function becomeKeeper(): string {
  const [script = '', ...rest] = process.argv.slice(1);
  const server = [process.execPath, ...process.execArgv, script, ...rest];
  const argv = [
    process.execPath,
    ...NODE_FLAGS,
    fileURLToPath(packageFile('dist/programs/keeper.cjs')),
    ...server,
  ];
  const env = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  // Node marks them close-on-exec.
  const { activated, stored } = passedSockets(process.env);
  const passedOn = [0, 1, 2, ...activated, ...stored.values()];
  for (const fd of passedOn) libc().fcntl(fd, linux.F_SETFD, 'int', 0);
  libc().execve(process.execPath, [...argv, null], [...env, null]);
  const reason = libc().errno();
  for (const fd of passedOn) libc().fcntl(fd, linux.F_SETFD, 'int', linux.FD_CLOEXEC);
  return reason;
}
