import type { Environment } from '../contract/index.js';
import { isFileUri } from '../protocol/file-uri.js';

/** Paths given to one `chmod`; a command line has room for far more. */
const PATHS_AT_A_TIME = 256;

/**
 * Makes copied programs executable. The file methods have no word for permissions, so the machine's own `chmod` does
 * it; where there is none, the files are there all the same and only a warning is left to say.
 */
export async function makeExecutable(environment: Environment, paths: readonly string[]): Promise<void> {
  const named = paths.filter((path) => !isFileUri(path));
  let failed = paths.length - named.length;
  for (let start = 0; start < named.length; start += PATHS_AT_A_TIME) {
    const some = named.slice(start, start + PATHS_AT_A_TIME);
    if (!(await chmod(environment, some))) failed += some.length;
  }
  if (failed > 0) process.stderr.write(`execwire: ${failed} files could not be made executable\n`);
}

async function chmod(environment: Environment, paths: readonly string[]): Promise<boolean> {
  try {
    await using child = await environment.start({ argv: ['chmod', '+x', '--', ...paths] });
    const end = await child.wait();
    return end.kind === 'exited' && end.exitCode === 0;
  } catch {
    return false;
  }
}
