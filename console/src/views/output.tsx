import { useEffect, useRef, useState } from 'preact/hooks';
import type { OutputLine } from '../../../src/contract/index.js';
import { runsOf } from '../lib/ansi.js';
import type { ProcessPlace } from '../lib/attach.js';
import { saveAs } from '../lib/download.js';
import { counted, harmless } from '../lib/format.js';
import { useOpened } from '../lib/opened.js';
import { LOADING, MAX_MATCHES, OutputSource, type OutputState } from '../lib/output-source.js';
import { useStore } from '../lib/store.js';
import { theme } from '../lib/theme.js';
import { attempt, tell } from '../lib/toasts.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';

const LINE_PX = 20;
const OVERSCAN = 30;
/** Browsers cannot scroll further than some 16 million pixels: beyond that, the end is shown. */
const MAX_LINES = 700_000;

/** What a process printed, line by line. */
export function OutputView(place: ProcessPlace) {
  const [source, state] = useOpened(() => new OutputSource(place), LOADING);
  const host = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const [found, setFound] = useState<{ lines: readonly OutputLine[]; at: number } | null>(null);
  const skipped = Math.max(0, state.totalLines - MAX_LINES);
  const show = (line: number): void => {
    setFollows(false);
    const top = (line - 1 - skipped) * LINE_PX;
    host.current?.scrollTo({ top: top - (host.current.clientHeight - LINE_PX) / 2 });
  };
  const toMatch = (lines: readonly OutputLine[], at: number): void => {
    const line = lines[at]?.line;
    setFound({ lines, at });
    if (line !== undefined) show(line);
  };
  return (
    <>
      <div class="terminal-bar wrap">
        <span class={`badge ${state.phase === 'following' ? 'good' : ''}`}>{phaseText(state)}</span>
        <span class="muted grow narrow-hide">{counted(state.totalLines, 'line')}</span>
        <Search
          found={found}
          onSearch={(text) => void attempt(async () => toMatch((await source?.search(text)) ?? [], 0))}
          onMove={(step) =>
            found &&
            toMatch(found.lines, (found.at + step + found.lines.length) % Math.max(1, found.lines.length))
          }
          onClear={() => setFound(null)}
        />
        <button
          type="button"
          class="button"
          onClick={() =>
            void attempt(async () => {
              const line = await source?.firstError();
              if (line == null) tell('No line looks like an error.');
              else show(line);
            })
          }
        >
          First error
        </button>
        <button type="button" class="button" aria-pressed={follows} onClick={() => setFollows(!follows)}>
          {follows ? 'Following' : 'Follow'}
        </button>
        <button
          type="button"
          class="button icon"
          aria-label="Download the output"
          onClick={() =>
            void attempt(async () => source && (await saveAs(`${place.processId}.log`, source.bytes())))
          }
        >
          <Icon name="down" />
        </button>
      </div>
      {state.problem !== null && (
        <p class="notice" role="alert">
          {state.problem}
        </p>
      )}
      {skipped > 0 && (
        <p class="notice">The first {skipped.toLocaleString('en')} lines are in the download.</p>
      )}
      <Lines
        host={host}
        source={source}
        state={state}
        skipped={skipped}
        follows={follows}
        onScrolledUp={() => setFollows(false)}
        found={found?.lines[found.at]?.line ?? null}
      />
    </>
  );
}

function phaseText({ phase }: OutputState): string {
  return phase === 'following' ? 'live' : phase === 'closed' ? 'complete' : phase;
}

function Search(props: {
  found: { lines: readonly OutputLine[]; at: number } | null;
  onSearch: (text: string) => void;
  onMove: (step: number) => void;
  onClear: () => void;
}) {
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  const { found } = props;
  return (
    <form
      class="row search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '' && text === searched && found) return props.onMove(1);
        setSearched(text);
        if (text !== '') props.onSearch(text);
        else props.onClear();
      }}
    >
      {found && (
        <span class="muted" role="status">
          {found.lines.length === 0
            ? 'not found'
            : `${found.at + 1} of ${found.lines.length}${found.lines.length < MAX_MATCHES ? '' : '+'}`}
        </span>
      )}
      <input
        class="input"
        type="search"
        placeholder="Search everything"
        aria-label="Search the whole output"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}

function Lines(props: {
  host: { readonly current: HTMLDivElement | null };
  source: OutputSource | undefined;
  state: OutputState;
  skipped: number;
  follows: boolean;
  found: number | null;
  onScrolledUp: () => void;
}) {
  const { host, source, state, skipped, follows } = props;
  const [view, setView] = useState({ top: 0, height: 600 });
  const isDark = useStore(theme) === 'dark';
  const count = state.totalLines - skipped;
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() =>
      setView({ top: element.scrollTop, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (follows && host.current) host.current.scrollTop = host.current.scrollHeight;
  }, [follows, count]);
  const first = Math.max(0, Math.floor(view.top / LINE_PX) - OVERSCAN);
  const last = Math.min(count, Math.ceil((view.top + view.height) / LINE_PX) + OVERSCAN);
  const numbers = Array.from(
    { length: Math.max(0, last - first) },
    (_, index) => skipped + first + index + 1,
  );
  return (
    <div
      class="lines"
      ref={host}
      tabIndex={0}
      role="region"
      aria-label="Output"
      onScroll={(event) => {
        const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
        if (follows && scrollTop < view.top && scrollTop + clientHeight < scrollHeight - 2 * LINE_PX)
          props.onScrolledUp();
        setView({ top: scrollTop, height: clientHeight });
      }}
    >
      {count === 0 && state.phase !== 'loading' && <Empty title="Nothing was printed yet." />}
      <div class="lines-space" style={{ height: `${count * LINE_PX}px` }}>
        {numbers.map((number) => (
          <Line
            number={number}
            top={(number - 1 - skipped) * LINE_PX}
            line={source?.line(number)}
            isFound={number === props.found}
            isDark={isDark}
            key={number}
          />
        ))}
      </div>
    </div>
  );
}

function Line(props: {
  number: number;
  top: number;
  line: OutputLine | undefined;
  isFound: boolean;
  isDark: boolean;
}) {
  const { number, top, line, isFound } = props;
  // What a program drew over on the same line shows as it was left.
  const text = line?.text.replace(/\r+$/, '').split('\r').at(-1) ?? '';
  return (
    <div
      class={`line ${line?.stream === 'stderr' ? 'stderr' : ''} ${isFound ? 'found' : ''}`}
      style={{ top: `${top}px` }}
    >
      <span class="number" aria-hidden="true">
        {number}
      </span>
      <span>
        {runsOf(text, props.isDark).map((run) => (
          <span style={run.style}>{harmless(run.text, 16_384)}</span>
        ))}
        {line?.cut && <span class="muted"> … cut</span>}
      </span>
    </div>
  );
}
