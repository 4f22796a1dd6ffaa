import { ExecError } from '../protocol/errors.js';
import type { Sandbox } from '../protocol/index.js';
import type { FileSystem } from './file-system.js';

/** The same files under a policy, for every operation that does not specify its own. */
export function confineFiles(files: FileSystem, sandbox: Sandbox): FileSystem {
  const under = <Options extends { readonly sandbox?: Sandbox | null }>(
    options: Options | undefined,
  ): Options => {
    // Adds only a member that every kind of options has.
    const confined = { ...options, sandbox: options?.sandbox ?? sandbox };
    return confined as Options & { sandbox: Sandbox };
  };
  return {
    readFile: (path, options) => files.readFile(path, under(options)),
    writeFile: (path, data, options) => files.writeFile(path, data, under(options)),
    createDirectory: (path, options) => files.createDirectory(path, under(options)),
    createSymlink: (path, target, options) => files.createSymlink(path, target, under(options)),
    getMetadata: (path, options) => files.getMetadata(path, under(options)),
    canonicalize: (path, options) => files.canonicalize(path, under(options)),
    readDirectory: (path, options) => files.readDirectory(path, under(options)),
    walk: (path, options) => files.walk(path, under(options)),
    remove: (path, options) => files.remove(path, under(options)),
    copy: (source, destination, options) => files.copy(source, destination, under(options)),
    rename: (source, destination, options) => files.rename(source, destination, under(options)),
    open: (path, options) => files.open(path, under(options)),
    watch: (path, options) => files.watch(path, under(options)),
    // It would reveal which names exist in places the policy hides.
    watchMissing: () =>
      Promise.reject(
        new ExecError('sandboxUnavailable', 'Watching cannot be confined to a policy; nothing is watched.'),
      ),
    search: (path, query) => files.search(path, under(query)),
  };
}
