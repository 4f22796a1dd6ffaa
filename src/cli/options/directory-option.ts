import { type Environment, HOME } from '../../contract/index.js';
import { resolvePath } from './copy-location.js';

/**
 * Where a program starts: on another machine in the home directory, as with ssh. A sandboxed one starts in the server's
 * working directory, because what it starts in is its workspace, and a whole home directory must not become that unasked.
 */
export async function directoryFor(
  { cwd, sandbox }: { readonly cwd?: string; readonly sandbox?: string },
  environment: Environment,
): Promise<{ cwd?: string }> {
  if (cwd !== undefined) return { cwd: await resolvePath(environment, cwd) };
  return environment.id === 'local' || sandbox !== undefined ? {} : { cwd: HOME };
}
