/** Tells whether a path below the searched directory is wanted. */
export type PathFilter = (relativePath: string) => boolean;

/** Patterns with a leading `!` leave out; if any has none, a path must match one of those. The last that fits decides. */
export function createPathFilter(globs: readonly string[]): PathFilter {
  const rules = globs.map((glob) => ({
    exclude: glob.startsWith('!'),
    regex: globRegex(glob.replace(/^!/, '')),
  }));
  const wantedByDefault = rules.every((rule) => rule.exclude);
  return (path) => {
    const rule = rules.findLast(({ regex }) => regex.test(path));
    return rule === undefined ? wantedByDefault : !rule.exclude;
  };
}

/** `*` and `?` stay within a name, `**` does not, `{a,b}` is either. Without a slash the name alone counts. */
function globRegex(glob: string): RegExp {
  const anchored = glob.replace(/^\//, '');
  const prefix = glob.includes('/') ? '' : '(?:.*/)?';
  let depth = 0;
  const body = anchored.replace(/\*\*\/|\*\*|[\s\S]/g, (token) => {
    if (token === '**/') return '(?:.*/)?';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token === '{') return ++depth > 0 ? '(?:' : '';
    if (token === '}' && depth > 0) return --depth >= 0 ? ')' : '';
    if (token === ',' && depth > 0) return '|';
    return token.replace(/[.+^$|()[\]\\{}]/g, '\\$&');
  });
  // A brace that is never closed would not compile; it is then meant as itself.
  const source = depth > 0 ? anchored.replace(/[.+^$|()[\]\\{}*?]/g, '\\$&') : body;
  return new RegExp(`^${prefix}${source}(?:/.*)?$`, 'su');
}
