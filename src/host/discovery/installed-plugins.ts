import { posix } from 'node:path';
import type { FileSystem } from '../../contract/index.js';
import type { Sandbox } from '../../protocol/index.js';

/** An installed plugin, at `MARKET/NAME/VERSION` below the cache. */
export interface InstalledPlugin {
  readonly id: string;
  readonly version: string;
  readonly root: string;
}

/** A local development version takes precedence over every release. */
const LOCAL_VERSION = 'local';

const USABLE_NAME = /^[A-Za-z0-9][\w.+-]*$/;

/** Sorts 1.10 after 1.9. */
const versions = new Intl.Collator('en', { numeric: true });

/** The plugins in a cache, one version each, sorted by path. Empty if there is no cache, or it is not visible. */
export async function installedPlugins(
  files: FileSystem,
  cache: string,
  sandbox: Sandbox | null,
): Promise<InstalledPlugin[]> {
  const namesIn = async (path: string): Promise<string[]> => {
    const entries = await files.readDirectory(path, { sandbox }).catch(() => []);
    return entries
      .filter(({ isDirectory, name }) => isDirectory && USABLE_NAME.test(name))
      .map(({ name }) => name)
      .sort();
  };
  const found: InstalledPlugin[] = [];
  for (const market of await namesIn(cache)) {
    for (const name of await namesIn(posix.join(cache, market))) {
      const home = posix.join(cache, market, name);
      const version = bestOf(await namesIn(home));
      if (version !== undefined)
        found.push({ id: `${name}@${market}`, version, root: posix.join(home, version) });
    }
  }
  return found;
}

function bestOf(names: readonly string[]): string | undefined {
  return names.includes(LOCAL_VERSION) ? LOCAL_VERSION : names.toSorted(versions.compare).at(-1);
}
