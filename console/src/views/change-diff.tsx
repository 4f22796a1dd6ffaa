import type { ChangeDiff } from '../../../src/contract/index.js';
import { harmless, harmlessCode } from '../lib/format.js';
import { patchLines } from '../lib/patch-lines.js';
import type { Machine } from '../lib/machine.js';
import { useLoaded } from '../lib/opened.js';
import { nameOf } from '../lib/paths.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';

const MAX_BYTES = 512 * 1024;
const MAX_LINES = 5_000;

/** What a program did to one file, or to everything below a directory. */
export function ChangeDiffView(props: {
  machine: Machine;
  changesId: string;
  path: string;
  version: number;
  onClose: () => void;
}) {
  const { machine, changesId, path, version } = props;
  const { value: page, problem } = useLoaded(
    async () => await machine.environment.changes(changesId).diff({ paths: [path], maxBytes: MAX_BYTES }),
    [version],
  );
  return (
    <section aria-label={`Changes of ${harmless(nameOf(path), 80)}`}>
      <div class="terminal-bar" style={{ position: 'sticky', top: 0 }}>
        <strong class="clip grow">{harmless(path, 200)}</strong>
        <button type="button" class="button quiet icon" aria-label="Close" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </div>
      {problem !== undefined ? (
        <Empty title="This cannot be shown.">
          <p>{problem}</p>
        </Empty>
      ) : !page ? (
        <Empty title="Loading…" />
      ) : (
        <>
          <Patch diffs={page.diffs} />
          {page.cursor !== null && <p class="notice">Only the beginning is shown.</p>}
        </>
      )}
    </section>
  );
}

function Patch({ diffs }: { diffs: readonly ChangeDiff[] }) {
  // The heading says which file it is.
  const isNamed = (head: string): boolean => diffs.length === 1 && /^(?:diff --git|---|\+\+\+) /.test(head);
  const lines = diffs.flatMap(({ text, omitted }) => [
    ...patchLines(text).filter(({ line, kind }) => kind !== 'patch-head' || !isNamed(line)),
    ...(omitted === null
      ? []
      : [{ line: omitted === 'binary' ? 'The content is not text.' : 'The content is too long.', kind: '' }]),
  ]);
  return (
    <>
      <div class="preview mono" role="region" aria-label="Differences" tabIndex={0}>
        {lines.slice(0, MAX_LINES).map(({ line, kind }, index) => (
          <div class={`code-line ${kind}`} key={index}>
            <span>{harmlessCode(line)}</span>
          </div>
        ))}
      </div>
      {lines.length > MAX_LINES && <p class="notice">Only the first {MAX_LINES} lines are shown.</p>}
    </>
  );
}
