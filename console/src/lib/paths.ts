import { readable } from './format.js';

/** Paths are plain, except those that are not UTF-8: they are URIs with escapes. */
const URI = 'file://';

/** The path of an entry in a directory. */
export function join(directory: string, name: string): string {
  const part = directory.startsWith(URI) ? encodeURIComponent(name) : name;
  return directory.endsWith('/') ? directory + part : `${directory}/${part}`;
}

export function parentOf(path: string): string {
  return waysTo(path).at(-2)?.path ?? '/';
}

export function nameOf(path: string): string {
  return waysTo(path).at(-1)?.name ?? path;
}

/** Each directory on the way to a path, from the root. */
export function waysTo(path: string): { readonly name: string; readonly path: string }[] {
  const isUri = path.startsWith(URI);
  const parts = path
    .slice(isUri ? URI.length : 0)
    .split('/')
    .filter((each) => each !== '');
  return [
    { name: '/', path: '/' },
    ...parts.map((part, index) => {
      const way = `/${parts.slice(0, index + 1).join('/')}`;
      return isUri ? { name: readable(part), path: plain(way) } : { name: part, path: way };
    }),
  ];
}

/** The way as a plain path, if it is one. */
function plain(way: string): string {
  try {
    return decodeURIComponent(way);
  } catch {
    return URI + way;
  }
}

/** The directory that contains all of them. */
export function commonParent(paths: readonly string[]): string {
  const [first = '/', ...others] = paths.map(parentOf);
  return others.reduce((common, each) => {
    let shared = common;
    while (shared !== '/' && each !== shared && !each.startsWith(`${shared}/`)) shared = parentOf(shared);
    return shared;
  }, first);
}
