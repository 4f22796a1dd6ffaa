import { posix } from 'node:path';
import type { FileSystem } from '../../contract/index.js';
import type { Sandbox } from '../../protocol/index.js';

/** Where an installed plugin is: `MARKET/NAME/VERSION` below the cache. */
export interface InstalledPlugin {
  readonly id: string;
  readonly version: string;
  readonly root: string;
}

/** What is still being worked on comes before every release. */
const LOCAL_VERSION = 'local';

const USABLE_NAME = /^[A-Za-z0-9][\w.+-]*$/;

/** 1.10 comes after 1.9. */
const versions = new Intl.Collator('en', { numeric: true });

/** The plugins in a cache, one version each, by path. Nothing where there is no cache, or none that may be seen. */
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
