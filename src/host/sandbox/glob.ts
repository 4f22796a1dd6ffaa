/** The directory a pattern starts from and the test for what lies below it. */
export interface CompiledGlob {
  /** The part before the first wildcard, cut at a directory. */
  readonly base: string;
  readonly matches: (path: string) => boolean;
}

/** `*` and `?` stay within a name, `**` crosses directories, everything else stands for itself. */
export function compileGlob(pattern: string): CompiledGlob {
  const wildcard = pattern.search(/[*?]/);
  const fixed = wildcard < 0 ? pattern : pattern.slice(0, wildcard);
  const base = fixed.slice(0, fixed.lastIndexOf('/')) || '/';
  const segments = pattern
    .split('/')
    .filter((segment, index, all) => segment !== '**' || all[index - 1] !== '**');
  // Names may contain line ends, which the dot would not match, and characters of two units.
  const expression = new RegExp(`^${segments.reduce(appendSegment, '')}$`, 'su');
  return { base, matches: (path) => expression.test(path) };
}

/** A `**` segment is any number of directories, none included; at the end it is everything below. */
function appendSegment(built: string, segment: string, index: number, all: readonly string[]): string {
  const last = index === all.length - 1;
  if (segment === '**') return built + (last ? '.+' : '(?:[^/]+/)*');
  const body = segment
    .replace(/\*+/g, '*')
    .replace(/[\\^$.|+()[\]{}*?]/g, (mark) => (mark === '*' ? '[^/]*' : mark === '?' ? '[^/]' : `\\${mark}`));
  return built + body + (last ? '' : '/');
}
