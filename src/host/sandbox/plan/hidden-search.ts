import { readdirSync } from 'node:fs';
import { GlobMachine, type Progress, TimeSlice } from '../../kernel/index.js';
import { ExecError } from '../../../protocol/errors.js';
import type { FilePolicy, HiddenPattern } from '../../../policy/internal.js';
import type { FileView } from './file-view.js';
import { parseGlob, type ParsedGlob } from './glob.js';
import { nameable } from './nameable-path.js';

/** A search through more entries than this would slow every start too much; the policy is refused instead. */
const MAX_ENTRIES = 200_000;

/** More hidden files than this would take as many mounts. */
const MAX_MATCHES = 512;

const SLASH = Buffer.from('/');

/** Searches under way, by policy and by the files it is applied to. */
const searches = new WeakMap<FilePolicy, Map<string, SharedSearch>>();

/**
 * What the patterns of a policy match right now, without following links. A tree may have a hundred thousand entries, so
 * others get their turn meanwhile. However many programs start at once under a policy, it is searched for them together.
 */
export async function findHidden(files: FilePolicy, view: FileView): Promise<readonly string[]> {
  if (files.kind === 'unrestricted' || files.hidden.length === 0) return [];
  const shared = searches.get(files) ?? new Map<string, SharedSearch>();
  searches.set(files, shared);
  const search = shared.get(view.id) ?? new SharedSearch(() => searchInTurns(files.hidden, view));
  shared.set(view.id, search);
  try {
    return await search.result();
  } finally {
    if (search.isIdle && shared.get(view.id) === search) shared.delete(view.id);
  }
}

/** The same, synchronously. */
export function findHiddenNow(patterns: readonly HiddenPattern[], view: FileView): readonly string[] {
  const steps = search(patterns, view);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

async function searchInTurns(patterns: readonly HiddenPattern[], view: FileView): Promise<readonly string[]> {
  const slice = new TimeSlice();
  const steps = search(patterns, view);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    const others = slice.yieldIfOver();
    if (others !== undefined) await others;
  }
}

/** Each caller gets the result of a search that began after the call: an earlier one may have passed the place of a new file. */
class SharedSearch {
  readonly #search: () => Promise<readonly string[]>;
  #running: Promise<readonly string[]> | undefined;
  #next: Promise<readonly string[]> | undefined;

  constructor(run: () => Promise<readonly string[]>) {
    this.#search = run;
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  result(): Promise<readonly string[]> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  #start(): Promise<readonly string[]> {
    this.#next = undefined;
    const running = this.#search().finally(() => {
      if (this.#next === undefined) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}

interface Level {
  /** With a slash at its end. */
  readonly path: Buffer;
  readonly progress: Progress;
  readonly depth: number;
}

/** Looks through each tree once for all patterns. Stops after every directory. */
function* search(patterns: readonly HiddenPattern[], view: FileView): Generator<undefined, string[]> {
  const found: string[] = [];
  for (const [base, inBase] of byBase(patterns)) {
    const options = inBase.flatMap(({ parsed, maxDepth }) =>
      parsed.alternatives.map((tokens) => ({ tokens, maxDepth })),
    );
    const machine = new GlobMachine(options.map(({ tokens }) => tokens));
    const deepest = Math.max(...options.map(({ maxDepth }) => maxDepth));
    const isHidden = ({ progress, depth }: Omit<Level, 'path'>): boolean =>
      machine.fitting(progress).some((index) => depth <= Math.max(options[index]?.maxDepth ?? 0, 1));
    const root = base === '/' ? base : `${base}/`;
    const pending: Level[] = [
      { path: Buffer.from(root), progress: machine.advance(machine.start, root), depth: 1 },
    ];
    let budget = MAX_ENTRIES;
    let room = MAX_MATCHES * inBase.length;
    for (let level = pending.pop(); level !== undefined; level = pending.pop()) {
      const { path, depth } = level;
      for (const entry of entriesOf(view.reachBytes(path))) {
        if (--budget < 0 || room < 0) throw tooMany();
        const progress = machine.advance(level.progress, entry.name.toString());
        if (isHidden({ progress, depth })) {
          found.push(nameable(Buffer.concat([path, entry.name])));
          room -= 1;
        } else if (entry.isDirectory() && depth < deepest) {
          const below = machine.advance(progress, '/');
          // Nothing in there can match any more.
          if (below.states.length === 0) continue;
          pending.push({ path: Buffer.concat([path, entry.name, SLASH]), progress: below, depth: depth + 1 });
        }
      }
      yield undefined;
    }
  }
  return found;
}

function byBase(patterns: readonly HiddenPattern[]) {
  const groups = new Map<string, { readonly parsed: ParsedGlob; readonly maxDepth: number }[]>();
  for (const { pattern, maxDepth } of patterns) {
    const parsed = parseGlob(pattern);
    groups.set(parsed.base, [...(groups.get(parsed.base) ?? []), { parsed, maxDepth }]);
  }
  return groups;
}

function entriesOf(directory: Buffer) {
  try {
    return readdirSync(directory, { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return [];
  }
}

function tooMany(): ExecError {
  return new ExecError('sandboxUnavailable', 'A glob pattern of the sandbox covers too many files.', {
    data: { reason: 'globTooBroad', hint: 'Name a directory, or give glob_scan_max_depth.' },
  });
}
