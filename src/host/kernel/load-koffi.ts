import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** What we use of koffi. */
export type Koffi = Pick<typeof import('koffi'), 'address' | 'errno' | 'load'>;

/** glibc among the mapped files; old ones have their version in the name. */
const GLIBC = /\/libc(\.so\.6|-2\.\d+\.so)$/m;

const require = createRequire(import.meta.url);
let loaded: Koffi | undefined;

/**
 * Koffi, by the short way where there is one: its library is mapped at once. Koffi itself searches for that through
 * five modules, which takes longer than all else a short command does. Throws where koffi is not installed.
 */
export function loadKoffi(): Koffi {
  loaded ??= mapLibrary() ?? (require('koffi') as Koffi);
  return loaded;
}

function mapLibrary(): Koffi | undefined {
  try {
    const path = usesGlibc() ? findLibrary(require.resolve.paths('koffi') ?? []) : undefined;
    if (path === undefined) return undefined;
    const module = { exports: {} };
    process.dlopen(module, path);
    return module.exports as Koffi;
  } catch {
    // Koffi knows more places, and says it best when there is none.
    return undefined;
  }
}

/** There is a library for each C library; the wrong one may well be mapped, and crash. */
function usesGlibc(): boolean {
  return process.platform === 'linux' && GLIBC.test(readFileSync('/proc/self/maps', 'latin1'));
}

/** Where the koffi that these folders of modules lead to has its library, if it lies where package managers put it. */
export function findLibrary(searched: readonly string[]): string | undefined {
  const found = searched.map((folder) => join(folder, 'koffi')).find((folder) => existsSync(folder));
  if (found === undefined) return undefined;
  const koffi = realpathSync(found);
  const { platform, arch } = process;
  const library = join('@koromix', `koffi-${platform}-${arch}`, `${platform}_${arch}`, 'koffi.node');
  const places = [join(koffi, 'node_modules', library), join(dirname(koffi), library)];
  return places.find((place) => existsSync(place));
}
