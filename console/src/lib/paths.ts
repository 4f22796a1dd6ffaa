/** The path of an entry in a directory. */
export function join(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

export function parentOf(path: string): string {
  const end = path.replace(/\/+$/, '').lastIndexOf('/');
  return end <= 0 ? '/' : path.slice(0, end);
}

export function nameOf(path: string): string {
  return path.replace(/\/+$/, '').split('/').at(-1) ?? path;
}

/** Each directory on the way to a path, from the root. */
export function waysTo(path: string): { readonly name: string; readonly path: string }[] {
  const names = path.split('/').filter((each) => each !== '');
  return [
    { name: '/', path: '/' },
    ...names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` })),
  ];
}
