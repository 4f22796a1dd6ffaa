import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The part of koffi we use. */
export type Koffi = Pick<typeof import('koffi'), 'address' | 'errno' | 'load'>;

/** glibc among the mapped files; old releases carry the version in the file name. */
const GLIBC = /\/libc(\.so\.6|-2\.\d+\.so)$/m;

const require = createRequire(import.meta.url);
let loaded: Koffi | undefined;

/**
 * Loads koffi's native library directly if possible. Koffi's own loader searches through five modules, which takes
 * longer than everything else a short command does. Throws if koffi is not installed.
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
    // Koffi searches more places and reports best when it finds nothing.
    return undefined;
  }
}

/** Koffi ships one library per C library. The wrong one may load and then crash. */
function usesGlibc(): boolean {
  return process.platform === 'linux' && GLIBC.test(readFileSync('/proc/self/maps', 'latin1'));
}

/** The native library of the koffi found in these module folders, if it lies where package managers put it. */
export function findLibrary(searched: readonly string[]): string | undefined {
  const found = searched.map((folder) => join(folder, 'koffi')).find((folder) => existsSync(folder));
  if (found === undefined) return undefined;
  const koffi = realpathSync(found);
  const { platform, arch } = process;
  const library = join('@koromix', `koffi-${platform}-${arch}`, `${platform}_${arch}`, 'koffi.node');
  const places = [join(koffi, 'node_modules', library), join(dirname(koffi), library)];
  return places.find((place) => existsSync(place));
}
