import { GlobMachine, type Progress } from '../../kernel/index.js';
import { parseGlob } from './glob-syntax.js';

/** `undecided` where no glob says anything: then other rules count, such as whether a name is hidden. */
export type Verdict = 'wanted' | 'unwanted' | 'undecided';

interface Rule {
  readonly exclude: boolean;
  readonly directoriesOnly: boolean;
}

/**
 * Globs as ripgrep takes them on its command line, which is as `.gitignore` has them but the other way round: a leading `!`
 * leaves out, one at least without it leaves out all files that fit none, and the last that fits decides. A glob without
 * a slash is for the name alone, one with a slash starts at the searched directory, one that ends with a slash is for
 * directories. What lies in a directory that is left out is never asked for.
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

  /** The progress of an entry of a directory. `name` has one character per byte. */
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

/** White space at the end counts only when escaped. */
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
  // Everything in a directory, but not the directory.
  if (pattern.endsWith('/**')) pattern += '/*';
  return { rule: { exclude, directoriesOnly }, pattern };
}
