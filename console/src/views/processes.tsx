import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ServerProcess } from '../../../src/client/index.js';
import { commandLine, duration, harmless, moment, pathOfUri, shortPath } from '../lib/format.js';
import type { Info, Machine } from '../lib/machine.js';
import { stateOf } from '../lib/process-state.js';
import { addressOf } from '../lib/router.js';
import { canChange } from '../lib/session.js';
import { starting } from '../lib/starting.js';
import { useStore } from '../lib/store.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';

type Shown = 'running' | 'ended' | 'all';

const ROW_PX = 42;
/** Rows above and below the visible ones. */
const OVERSCAN = 10;

export function ProcessesView({ machine }: { machine: Machine }) {
  const { processes, status, problem, listedAtMs, info } = useStore(machine.state);
  const [text, setText] = useState('');
  const [shown, setShown] = useState<Shown>('all');
  const rows = useMemo(() => select(processes, text, shown), [processes, text, shown]);
  return (
    <>
      <header class="head">
        <h1>Processes</h1>
        <span class="muted grow clip">on {machine.id}</span>
        <div class="tabs" role="group" aria-label="Which processes">
          {(['all', 'running', 'ended'] as const).map((each) => (
            <button type="button" aria-pressed={shown === each} onClick={() => setShown(each)} key={each}>
              {each[0]?.toUpperCase()}
              {each.slice(1)}
            </button>
          ))}
        </div>
        <input
          class="input search"
          type="search"
          placeholder="Filter"
          aria-label="Filter processes"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {canChange() && (
          <button type="button" class="button primary first" onClick={() => starting.set(machine)}>
            <Icon name="plus" />
            Start
          </button>
        )}
      </header>
      {status !== 'online' && <Notice status={status} problem={problem} />}
      {rows.length === 0 ? (
        <Nothing isFiltered={processes.length > 0} isKnown={listedAtMs > 0} />
      ) : (
        <Table machine={machine} rows={rows} now={listedAtMs} home={homeOf(info)} />
      )}
    </>
  );
}

export function Notice(props: { status: string; problem: string | null }) {
  return (
    <p class="notice" role="status">
      {props.status === 'connecting' ? 'Connecting…' : (props.problem ?? 'This machine cannot be reached.')}
    </p>
  );
}

function Nothing({ isFiltered, isKnown }: { isFiltered: boolean; isKnown: boolean }) {
  if (isFiltered) return <Empty title="No process matches." />;
  if (!isKnown) return <Empty title="Loading…" />;
  return (
    <Empty title="Nothing runs here.">
      <p>Processes that anybody starts on this machine appear here, also those of agents.</p>
    </Empty>
  );
}

function homeOf(info: Info | null): string | null {
  return info?.userHomeDir ? pathOfUri(info.userHomeDir) : null;
}

interface Place {
  readonly machine: Machine;
  readonly now: number;
  readonly home: string | null;
}

/** Only the visible rows are in the page: a thousand processes scroll like ten. */
function Table({ rows, ...place }: Place & { rows: readonly ServerProcess[] }) {
  const host = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PX) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + OVERSCAN);
  return (
    <div class="body" ref={host} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div class="card">
        <table class="table" aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              <th scope="col">Command</th>
              <th scope="col" style={{ width: '138px' }}>
                State
              </th>
              <th scope="col" class="medium-hide" style={{ width: '20%' }}>
                Directory
              </th>
              <th scope="col" class="narrow-hide" style={{ width: '110px' }}>
                Started by
              </th>
              <th scope="col" class="numeric medium-hide" style={{ width: '104px' }}>
                Started
              </th>
              <th scope="col" class="numeric narrow-hide" style={{ width: '92px' }}>
                Ran for
              </th>
            </tr>
          </thead>
          <tbody>
            {first > 0 && <Filler rows={first} />}
            {rows.slice(first, last).map((row, index) => (
              <Row {...place} row={row} index={first + index} key={`${row.sessionId} ${row.processId}`} />
            ))}
            {last < rows.length && <Filler rows={rows.length - last} />}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Filler({ rows }: { rows: number }) {
  return (
    <tr aria-hidden="true">
      <td style={{ height: `${rows * ROW_PX}px`, padding: 0, border: 0 }} />
    </tr>
  );
}

function Row(props: Place & { row: ServerProcess; index: number }) {
  const { machine, row, now, home } = props;
  const state = stateOf(row);
  const { details } = row;
  const line = harmless(commandLine(row.argv), 400);
  const directory = details?.cwd ? harmless(pathOfUri(details.cwd)) : '';
  const address = addressOf({
    view: 'process',
    machine: machine.id,
    session: row.sessionId,
    process: row.processId,
    tab: row.tty ? 'live' : 'output',
  });
  return (
    <tr aria-rowindex={props.index + 2}>
      <td class="clip mono" title={line}>
        {details ? <a href={address}>{line}</a> : <span class="muted">{line}</span>}
      </td>
      <td>
        <span class={`badge ${state.tone}`}>{state.text}</span>
      </td>
      <td class="clip mono muted medium-hide" title={directory}>
        {shortPath(directory, home)}
      </td>
      <td class="clip muted narrow-hide">
        {details ? harmless(details.clientName || 'unknown', 60) : 'somebody else'}
      </td>
      <td class="numeric muted medium-hide" title={new Date(row.startedAtMs).toLocaleString()}>
        {moment(row.startedAtMs)}
      </td>
      <td class="numeric muted narrow-hide">{duration((details?.endedAtMs ?? now) - row.startedAtMs)}</td>
    </tr>
  );
}

function select(all: readonly ServerProcess[], text: string, shown: Shown): ServerProcess[] {
  const wanted = text.trim().toLowerCase();
  const matches = ({ argv, processId, details }: ServerProcess): boolean =>
    wanted === '' ||
    [commandLine(argv), processId, details?.cwd ?? '', details?.clientName ?? '']
      .join('\n')
      .toLowerCase()
      .includes(wanted);
  return all
    .filter((row) => (shown === 'all' || row.exited === (shown === 'ended')) && matches(row))
    .sort((a, b) => Number(a.exited) - Number(b.exited) || b.startedAtMs - a.startedAtMs);
}
