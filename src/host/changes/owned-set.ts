import { posix } from 'node:path';
import type {
  AppliedChanges,
  ApplyChangesOptions,
  ChangeCounts,
  ChangeSet,
  ChangesPage,
  DiffChangesOptions,
  DiffPage,
  HeldChange,
  ListChangesOptions,
  ReadChangeOptions,
} from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { pathText } from '../../protocol/file-uri.js';
import { compileGlob } from '../sandbox/index.js';
import { applyChanges, finishApply, type PlacedChange } from './apply/apply.js';
import { select } from './apply/selection.js';
import { shownPath } from './byte-path.js';
import type { ChangeSets } from './change-sets.js';
import { withClosedDirectories } from './closed-directories.js';
import { readLayer } from './content.js';
import { diffChange } from './diff/diff-change.js';
import { closeLayers, type HeldSet, type ScannedRoot } from './held-set.js';
import { type Layers, typeOfChange } from './scan.js';
import { byRoot, locate } from './set-paths.js';

const DEFAULT_PAGE = 1_000;
const DEFAULT_DIFF_BYTES = 1024 * 1024;
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** One set, in the form the contract has it. */
export class OwnedSet implements ChangeSet {
  readonly #sets: ChangeSets;
  readonly #set: HeldSet;

  constructor(sets: ChangeSets, set: HeldSet) {
    this.#sets = sets;
    this.#set = set;
  }

  get changesId(): string {
    return this.#set.record.changesId;
  }

  /** How many programs run in it. */
  get running(): number {
    return this.#set.running;
  }

  async counts(): Promise<ChangeCounts> {
    return countsOf(placed(await this.#scan()));
  }

  async list({ glob, limit = DEFAULT_PAGE, cursor }: ListChangesOptions = {}): Promise<ChangesPage> {
    const all = placed(await this.#scan());
    const matching = glob === undefined ? all : all.filter(matcherOf(glob, this.#set));
    const from = startOf(cursor, matching.length);
    const page = matching.slice(from, from + Math.max(1, limit));
    const end = from + page.length;
    return {
      changes: page.map((each) => this.#shown(each)),
      counts: countsOf(matching),
      cursor: end < matching.length ? String(end) : null,
    };
  }

  async read(
    path: string,
    { side, offset = 0, maxBytes = MAX_READ_BYTES }: ReadChangeOptions,
  ): Promise<{ bytes: Uint8Array; size: number; eof: boolean }> {
    const { root, relative } = locate(this.#set.record, path);
    const layers = this.#set.openLayers(root);
    try {
      const part = { path: relative, offset, maxBytes: Math.min(maxBytes, MAX_READ_BYTES) };
      // What is not held is as it is below.
      const read = (): ReturnType<typeof readLayer> => readLayer(layers, { ...part, side });
      const found =
        (await withClosedDirectories(bothLayers(layers, relative), read)) ??
        (side === 'held' && !(await this.#isDeleted(root, relative))
          ? readLayer(layers, { ...part, side: 'base' })
          : null);
      if (found === null) throw new ExecError('notFound', 'The file does not exist on that side.');
      return found;
    } finally {
      closeLayers(layers);
    }
  }

  async diff(options: DiffChangesOptions = {}): Promise<DiffPage> {
    const { paths, contextLines = 3, maxBytes = DEFAULT_DIFF_BYTES, cursor } = options;
    const chosen = this.#chosen(await this.#scan(), paths);
    const diffs: DiffPage['diffs'][number][] = [];
    let room = maxBytes;
    let next = startOf(cursor, chosen.length);
    for (; next < chosen.length; next += 1) {
      const each = chosen[next];
      if (each === undefined) break;
      const diff = await this.#diffOf(each, { contextLines, maxBytes });
      if (diffs.length > 0 && diff.text.length > room) break;
      room -= diff.text.length;
      diffs.push(diff);
    }
    return { diffs, cursor: next < chosen.length ? String(next) : null };
  }

  async apply({ paths, onConflict = 'refuse' }: ApplyChangesOptions = {}): Promise<AppliedChanges> {
    return await this.#set.turns.alone(async () => {
      await this.#set.untilIdle();
      this.#set.lock();
      const outcome = await applyChanges(this.#set, {
        paths: paths === undefined ? null : byRoot(this.#set.record, paths),
        onConflict,
      });
      return {
        applied: countsOf(outcome.applied),
        conflicts: outcome.conflicts.map((each) => ({ ...this.#shown(each), conflict: true })),
      };
    });
  }

  async discard(): Promise<void> {
    await this.#sets.discard(this.#set);
  }

  /** What a killed server left half done is finished first. */
  async #scan(): Promise<ScannedRoot[]> {
    const { turns } = this.#set;
    if (this.#set.isUnfinished) await turns.alone(() => this.#finish());
    return await turns.looking(() => this.#set.scan());
  }

  async #finish(): Promise<void> {
    if (!this.#set.isUnfinished) return;
    this.#set.lock();
    await finishApply(this.#set);
  }

  #chosen(scanned: readonly ScannedRoot[], paths: readonly string[] | undefined): PlacedChange[] {
    const wanted = paths === undefined ? null : byRoot(this.#set.record, paths);
    return scanned.flatMap((root) =>
      select(root.changes, wanted === null ? null : (wanted.get(root.root) ?? [])).map((change) => ({
        root,
        change,
      })),
    );
  }

  async #diffOf(
    { root, change }: PlacedChange,
    { contextLines, maxBytes }: { contextLines: number; maxBytes: number },
  ): Promise<DiffPage['diffs'][number]> {
    const layers = this.#set.openLayers(root.root);
    const path = shownPath(root.path, change.path);
    try {
      const { text, omitted } = await withClosedDirectories(bothLayers(layers, change.path), () =>
        diffChange(change, { layers, shown: path, contextLines }),
      );
      if (text.length <= maxBytes) return { path, kind: change.kind, text, omitted };
      return { path, kind: change.kind, text: `${text.split('\n')[0]}\n`, omitted: 'tooLarge' };
    } finally {
      closeLayers(layers);
    }
  }

  async #isDeleted(root: number, path: string): Promise<boolean> {
    const scanned = (await this.#scan()).find((each) => each.root === root);
    return (scanned?.changes ?? []).some(
      (change) => change.kind === 'deleted' && (path === change.path || path.startsWith(`${change.path}/`)),
    );
  }

  #shown({ root, change }: PlacedChange): HeldChange {
    const { held, base, kind } = change;
    return {
      path: shownPath(root.path, change.path),
      kind,
      type: typeOfChange(change),
      size: held?.isFile() ? Number(held.size) : null,
      baseSize: base?.isFile() ? Number(base.size) : null,
      conflict: root.covered.has(change) || this.#set.bases.isConflict(root.root, change),
    };
  }
}

function bothLayers({ upper, base }: Layers, path: string): { layer: number; paths: string[] }[] {
  return [upper, base].map((layer) => ({ layer, paths: [path] }));
}

function placed(scanned: readonly ScannedRoot[]): PlacedChange[] {
  return scanned.flatMap((root) => root.changes.map((change) => ({ root, change })));
}

function countsOf(changes: readonly PlacedChange[]): ChangeCounts {
  const counts = { created: 0, modified: 0, deleted: 0 };
  for (const { change } of changes)
    counts[change.kind === 'created' || change.kind === 'deleted' ? change.kind : 'modified'] += 1;
  return counts;
}

function matcherOf(glob: string, { record }: HeldSet): (change: PlacedChange) => boolean {
  const patterns = glob.startsWith('/')
    ? [glob]
    : record.roots.map(({ path }) =>
        posix.join(path.replaceAll(/[*?[\]{},\\]/g, String.raw`\$&`), '**', glob),
      );
  const compiled = patterns.map(compileGlob);
  return ({ root, change }) => {
    const path = pathText(Buffer.from(shownPath(root.path, change.path)));
    return compiled.some(({ matches }) => matches(path));
  };
}

function startOf(cursor: string | null | undefined, length: number): number {
  if (cursor == null) return 0;
  const start = Number(cursor);
  if (!Number.isInteger(start) || start < 0)
    throw new ExecError('invalidParams', 'The cursor does not come from an earlier answer.');
  return Math.min(start, length);
}
