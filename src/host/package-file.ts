/**
 * Where a file of this package lies, given its path from the package's root. This code runs from `host/` and, put
 * together with the rest of the program, from `dist/bin/`: both are two levels down.
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
