import { existsSync } from 'node:fs';

/**
 * Locates a file of this package by its path from the package root. This code runs from its own folder below `dist/`,
 * or bundled from `dist/bin/`, so the root has to be searched for.
 */
export function packageFile(path: string): URL {
  root ??= findRoot();
  return new URL(path, root);
}

let root: URL | undefined;

function findRoot(): URL {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) {
    const parent = new URL('../', folder);
    if (parent.href === folder.href) throw new Error('The package.json of execwire is missing.');
    folder = parent;
  }
  return folder;
}
