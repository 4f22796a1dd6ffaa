import { useState } from 'preact/hooks';
import type { AppliedChanges, ChangeCounts, ChangesPage, HeldChange } from '../../../src/contract/index.js';
import { bytes, harmless } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import { useLoaded } from '../lib/opened.js';
import { commonParent, nameOf, parentOf } from '../lib/paths.js';
import { addressOf, go } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { attempt, tell } from '../lib/toasts.js';
import { Confirm } from '../ui/dialog.js';
import { Empty } from '../ui/empty.js';
import { ChangeDiffView } from './change-diff.js';
import { ConflictsDialog } from './change-conflicts.js';

/** More are counted, not shown. */
const MAX_SHOWN = 1_000;

const KIND_TONE: Readonly<Record<string, string>> = { created: 'good', deleted: 'bad', modified: 'warn' };

/** What is held in one set: look at it, apply all or some of it, or forget it. */
export function ChangeSetView(props: { machine: Machine; changesId: string; running: number }) {
  const { machine, changesId, running } = props;
  const { status } = useStore(machine.state);
  const [version, setVersion] = useState(0);
  const [shown, setShown] = useState<string | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<'apply' | 'discard' | null>(null);
  const [conflicts, setConflicts] = useState<readonly HeldChange[]>([]);
  const { value: page, problem } = useLoaded(
    async () => await machine.environment.changes(changesId).list({ limit: MAX_SHOWN }),
    [version, running, status],
  );
  const paths = [...chosen];
  const apply = (onConflict: 'refuse' | 'skip' | 'overwrite'): void =>
    void attempt(async () => {
      const some = paths.length === 0 ? {} : { paths };
      const answer = await machine.environment.changes(changesId).apply({ ...some, onConflict });
      report(answer, onConflict);
      setConflicts(onConflict === 'refuse' ? answer.conflicts : []);
      if (onConflict !== 'refuse' || answer.conflicts.length === 0) setChosen(new Set());
      setVersion((each) => each + 1);
    });
  const discard = (): void =>
    void attempt(async () => {
      await machine.environment.changes(changesId).discard();
      tell('The changes were discarded.');
      go({ view: 'changes', machine: machine.id, set: null });
    });
  return (
    <>
      <header class="head">
        <div class="title">
          <h1 class="mono clip">{harmless(changesId, 64)}</h1>
          <div class="muted clip" role="status">
            {page ? countsText(page.counts) : ''}
            {running > 0 && ` · ${running} running`}
          </div>
        </div>
        <a class="button" href={addressOf({ view: 'changes', machine: machine.id, set: null })}>
          All sets
        </a>
        <button type="button" class="button" onClick={() => setVersion((each) => each + 1)}>
          Refresh
        </button>
        <button type="button" class="button danger" onClick={() => setAsking('discard')}>
          Discard
        </button>
        <button
          type="button"
          class="button primary"
          disabled={!page?.changes.length}
          onClick={() => setAsking('apply')}
        >
          {paths.length === 0 ? 'Apply all' : `Apply ${paths.length} chosen`}
        </button>
      </header>
      <div class="body flush">
        {problem !== undefined ? (
          <Empty title="These changes cannot be shown.">
            <p>{problem}</p>
          </Empty>
        ) : !page ? (
          <Empty title="Loading…" />
        ) : page.changes.length === 0 ? (
          <Empty title="Nothing is held here." />
        ) : (
          <div class={`files ${shown === null ? '' : 'has-preview'}`}>
            <div class="list">
              <ChangeList
                page={page}
                shown={shown}
                chosen={chosen}
                onShow={setShown}
                onChoose={(path) => setChosen(toggled(chosen, path))}
              />
            </div>
            <div>
              {shown === null ? (
                <Empty title="Choose a file to see what changed." />
              ) : (
                <ChangeDiffView
                  machine={machine}
                  changesId={changesId}
                  path={shown}
                  version={version}
                  onClose={() => setShown(null)}
                  key={shown}
                />
              )}
            </div>
          </div>
        )}
      </div>
      {asking === 'discard' && (
        <Confirm
          title="Discard these changes?"
          text="Everything held in this set is deleted. The files stay as they are. This cannot be undone."
          action="Discard"
          onConfirm={discard}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'apply' && (
        <Confirm
          title="Apply these changes?"
          text={`The files on ${machine.id} become like the held ones: ${
            paths.length === 0 ? countsText(page?.counts) : `${paths.length} chosen`
          }.`}
          action="Apply"
          onConfirm={() => apply('refuse')}
          onClose={() => setAsking(null)}
        />
      )}
      {conflicts.length > 0 && (
        <ConflictsDialog conflicts={conflicts} onApply={apply} onClose={() => setConflicts([])} />
      )}
    </>
  );
}

function ChangeList(props: {
  page: ChangesPage;
  shown: string | null;
  chosen: ReadonlySet<string>;
  onShow: (path: string) => void;
  onChoose: (path: string) => void;
}) {
  const { changes, counts } = props.page;
  const above = commonParent(changes.map(({ path }) => path));
  const more = counts.created + counts.modified + counts.deleted - changes.length;
  return (
    <>
      <table class="table">
        <tbody>
          {changes.map(({ path, kind, type, size, conflict }) => (
            <tr key={path} style={path === props.shown ? { background: 'var(--accent-soft)' } : {}}>
              <td style={{ width: '36px' }}>
                <input
                  type="checkbox"
                  aria-label={`Choose ${harmless(path, 200)}`}
                  checked={props.chosen.has(path)}
                  onChange={() => props.onChoose(path)}
                />
              </td>
              <td class="clip">
                <button
                  type="button"
                  class="button quiet plain"
                  title={harmless(path)}
                  onClick={() => props.onShow(path)}
                >
                  <span class="clip mono">
                    <bdi>{harmless(nameOf(path), 120)}</bdi>{' '}
                    <bdi class="muted">{harmless(parentOf(path).slice(above.length).replace(/^\//, ''))}</bdi>
                  </span>
                </button>
              </td>
              <td style={{ width: '100px' }}>
                {conflict ? (
                  <span class="badge bad">conflict</span>
                ) : (
                  <span class={`badge ${KIND_TONE[kind] ?? ''}`}>{harmless(kind, 30)}</span>
                )}
              </td>
              <td class="numeric muted narrow-hide" style={{ width: '80px' }}>
                {type === 'file' ? (size === null ? '' : bytes(size)) : type}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="notice">{more} more are not shown. Applying everything includes them.</p>}
    </>
  );
}

function report({ applied, conflicts }: AppliedChanges, onConflict: string): void {
  if (onConflict === 'refuse' && conflicts.length > 0) return;
  const left = conflicts.length === 0 ? '' : `, ${conflicts.length} left as they are`;
  tell(`Applied: ${countsText(applied)}${left}.`);
}

function countsText(counts: ChangeCounts | undefined): string {
  const { created = 0, modified = 0, deleted = 0 } = counts ?? {};
  return `${created} created, ${modified} modified, ${deleted} deleted`;
}

function toggled(chosen: ReadonlySet<string>, path: string): ReadonlySet<string> {
  const next = new Set(chosen);
  if (!next.delete(path)) next.add(path);
  return next;
}
