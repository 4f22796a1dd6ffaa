import { useMemo, useState } from 'preact/hooks';
import type { DirectoryEntry } from '../../../src/contract/index.js';
import { diffLines } from '../lib/diff.js';
import { bytes, harmless, harmlessCode } from '../lib/format.js';
import { highlight } from '../lib/highlight.js';
import type { Machine } from '../lib/machine.js';
import { type Loaded, useLoaded } from '../lib/opened.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';

const MAX_SHOWN_BYTES = 512 * 1024;
const MAX_SHOWN_LINES = 5_000;

type Content =
  | { readonly kind: 'text'; readonly lines: readonly string[]; readonly isCut: boolean }
  | { readonly kind: 'binary' };

/** What is in a file, or how it differs from another one in the same directory. */
export function FilePreview(props: {
  machine: Machine;
  file: DirectoryEntry;
  others: readonly DirectoryEntry[];
  version: number;
  onClose: () => void;
}) {
  const { machine, file, version } = props;
  const [other, setOther] = useState('');
  const { value: content, problem } = useContent(machine, file.path, version);
  const { value: compared } = useContent(machine, other === '' ? null : other, version);
  return (
    <section aria-label={harmless(file.name, 80)}>
      <div class="terminal-bar" style={{ position: 'sticky', top: 0 }}>
        <strong class="clip grow">{harmless(file.name, 120)}</strong>
        <span class="muted narrow-hide">{file.size === undefined ? '' : bytes(file.size)}</span>
        <select
          class="input fit"
          style={{ maxWidth: '180px' }}
          aria-label="Compare with"
          value={other}
          onChange={(event) => setOther(event.currentTarget.value)}
        >
          <option value="">Compare with…</option>
          {props.others
            .filter((each) => each.isFile && each.path !== file.path)
            .map((each) => (
              <option value={each.path} key={each.path}>
                {harmless(each.name, 80)}
              </option>
            ))}
        </select>
        <button type="button" class="button quiet icon" aria-label="Close" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </div>
      {problem !== undefined ? (
        <Empty title="This file cannot be read.">
          <p>{problem}</p>
        </Empty>
      ) : content?.kind === 'binary' ? (
        <Empty title="This file is not text.">
          <p>Download it to look at it.</p>
        </Empty>
      ) : !content ? (
        <Empty title="Loading…" />
      ) : other !== '' && compared?.kind === 'text' ? (
        <Diff before={compared.lines} after={content.lines} />
      ) : (
        <Code name={file.name} lines={content.lines} isCut={content.isCut} />
      )}
    </section>
  );
}

function useContent(machine: Machine, path: string | null, version: number): Loaded<Content | null> {
  return useLoaded(async () => (path === null ? null : await contentAt(machine, path)), [path, version]);
}

async function contentAt(machine: Machine, path: string): Promise<Content> {
  await using handle = await machine.environment.files.open(path);
  const { bytes: start, eof } = await handle.read(0, MAX_SHOWN_BYTES);
  if (start.subarray(0, 8_192).includes(0)) return { kind: 'binary' };
  const lines = new TextDecoder().decode(start).split('\n');
  if (eof && lines.at(-1) === '') lines.pop();
  return {
    kind: 'text',
    lines: lines.slice(0, MAX_SHOWN_LINES),
    isCut: !eof || lines.length > MAX_SHOWN_LINES,
  };
}

function Code(props: { name: string; lines: readonly string[]; isCut: boolean }) {
  const tokens = useMemo(() => highlight(props.lines, props.name), [props.lines, props.name]);
  if (props.lines.length === 0) return <Empty title="This file is empty." />;
  return (
    <>
      <div class="preview mono" role="region" aria-label="Content" tabIndex={0}>
        {tokens.map((line, index) => (
          <div class="code-line" key={index}>
            <span class="number" aria-hidden="true">
              {index + 1}
            </span>
            <span>
              {line.map(({ kind, text }) => (
                <span class={`tok-${kind}`}>{harmlessCode(text)}</span>
              ))}
            </span>
          </div>
        ))}
      </div>
      {props.isCut && <p class="notice">Only the beginning is shown. Download the file for the rest.</p>}
    </>
  );
}

function Diff({ before, after }: { before: readonly string[]; after: readonly string[] }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  if (lines.every(({ kind }) => kind === 'same')) return <Empty title="The two files are the same." />;
  return (
    <div class="preview mono" role="region" aria-label="Differences" tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        <div class={`code-line ${kind}`} key={index}>
          <span class="number">{kind === 'added' ? '+' : kind === 'removed' ? '−' : ' '}</span>
          <span>{harmlessCode(text)}</span>
        </div>
      ))}
    </div>
  );
}
