import { GlobMachine, type Progress } from '../../kernel/index.js';
import { parseGlob } from './glob-syntax.js';

/** `undecided` if no glob matches: then other rules apply, such as whether a name is hidden. */
export type Verdict = 'wanted' | 'unwanted' | 'undecided';

interface Rule {
  readonly exclude: boolean;
  readonly directoriesOnly: boolean;
}

/**
 * Globs as on ripgrep's command line, which are those of `.gitignore` inverted: a leading `!` excludes; if at least one
 * glob has none, files that match no glob are excluded; the last match decides. A glob without a slash applies to the
 * name alone, one with a slash is anchored at the searched directory, one with a trailing slash applies to directories.
 * Entries of an excluded directory are never tested.
 */
export class PathFilter {
  readonly #rules: Rule[] = [];
  readonly #machine: GlobMachine;

  constructor(globs: readonly string[]) {
    const parsed = [];
    for (const glob of globs.map(trimmed)) {
      if (glob === '' || glob.startsWith('#')) continue;
      const { rule, pattern } = read(Buffer.from(glob).toString('latin1'));
      this.#rules.push(rule);
      parsed.push(parseGlob(pattern));
    }
    this.#machine = new GlobMachine(parsed);
  }

  /** The progress of the searched directory itself. */
  get start(): Progress {
    return this.#machine.start;
  }

  /** The progress of a directory entry. `name` has one character per byte. */
  enter(directory: Progress, name: string): Progress {
    return this.#machine.advance(directory, directory === this.start ? name : `/${name}`);
  }

  judge(entry: Progress, isDirectory: boolean): Verdict {
    const fitting = this.#machine
      .fitting(entry)
      .filter((index) => isDirectory || this.#rules[index]?.directoriesOnly === false);
    const rule = this.#rules[Math.max(...fitting)];
    if (rule !== undefined) return rule.exclude ? 'unwanted' : 'wanted';
    return isDirectory || this.#rules.every(({ exclude }) => exclude) ? 'undecided' : 'unwanted';
  }
}

/** Trailing white space counts only if escaped. */
function trimmed(glob: string): string {
  return glob.endsWith('\\ ') ? glob : glob.trimEnd();
}

function read(glob: string): { rule: Rule; pattern: string } {
  const isEscaped = /^\\[!#]/.test(glob);
  const exclude = glob.startsWith('!');
  let pattern = isEscaped || exclude ? glob.slice(1) : glob;
  const isAnchored = !isEscaped && pattern.startsWith('/');
  if (isAnchored) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith('/');
  if (directoriesOnly) pattern = pattern.slice(0, -1).replace(/\\$/, '');
  if (!isAnchored && !pattern.includes('/') && pattern !== '**') pattern = `**/${pattern}`;
  // Everything in a directory, but not the directory itself.
  if (pattern.endsWith('/**')) pattern += '/*';
  return { rule: { exclude, directoriesOnly }, pattern };
}
