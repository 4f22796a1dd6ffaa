import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import type { ServerProcess } from '../../../src/client/index.js';
import type { ProcessPlace } from '../lib/attach.js';
import { commandLine, duration, harmless, moment, pathOfUri } from '../lib/format.js';
import { type ProcessState, stateOf } from '../lib/process-state.js';
import { addressOf, type ProcessTab } from '../lib/router.js';
import { canChange } from '../lib/session.js';
import { useStore } from '../lib/store.js';
import { attempt, tell } from '../lib/toasts.js';
import { Confirm } from '../ui/dialog.js';
import { Empty } from '../ui/empty.js';
import { Notice } from './processes.js';
import { OutputView } from './output.js';
import { ProcessPorts } from './process-ports.js';

const TerminalView = lazy(() => import('../terminal/terminal-view.js'));
const ReplayView = lazy(() => import('../terminal/replay-view.js'));

const GRACE_MS = 5_000;
const SIGNALS = [
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
  'SIGSTOP',
  'SIGCONT',
] as const;

export function ProcessView(props: ProcessPlace & { tab: ProcessTab }) {
  const { machine, session, processId, tab } = props;
  const { processes, status, problem, listedAtMs, connections } = useStore(machine.state);
  const listed = processes.find((row) => row.processId === processId && row.sessionId === session);
  // One that is forgotten by the machine stays as it was last seen.
  const [seen, setSeen] = useState<ServerProcess>();
  useEffect(() => {
    if (listed) setSeen(listed);
  }, [listed]);
  const row = listed ?? seen;
  useEffect(() => {
    document.title = row ? `${harmless(commandLine(row.argv), 60)} – Execwire` : 'Execwire';
    return () => {
      document.title = 'Execwire';
    };
  }, [row?.processId]);
  if (!row)
    return listedAtMs === 0 ? (
      <Empty title="Loading…" />
    ) : (
      <Empty title="This process is not known any more.">
        <a href={addressOf({ view: 'processes', machine: machine.id })}>All processes of {machine.id}</a>
      </Empty>
    );
  return (
    <>
      <Head {...props} row={row} isKnown={listed !== undefined} />
      {status !== 'online' ? (
        <Notice status={status} problem={problem} />
      ) : (
        !listed && <p class="notice">This machine does not know the process any more.</p>
      )}
      <div class="body flush">
        <Suspense fallback={<div class="terminal-area" />}>
          {tab === 'replay' ? (
            <ReplayView {...props} key="replay" />
          ) : tab === 'output' || !row.tty ? (
            <OutputView {...props} key={`output ${connections}`} />
          ) : (
            <TerminalView {...props} key={`live ${connections}`} />
          )}
        </Suspense>
      </div>
    </>
  );
}

function Head(props: ProcessPlace & { tab: ProcessTab; row: ServerProcess; isKnown: boolean }) {
  const { machine, session, processId, row, isKnown } = props;
  const state: ProcessState = isKnown ? stateOf(row) : { text: 'gone', tone: '' };
  const { details } = row;
  const now = machine.state.value.listedAtMs;
  const tabs: { tab: ProcessTab; label: string }[] = [
    ...(row.tty ? [{ tab: 'live' as const, label: 'Terminal' }] : []),
    { tab: 'output', label: 'Output' },
    ...(details?.recorded ? [{ tab: 'replay' as const, label: 'Replay' }] : []),
  ];
  const current = tabs.some(({ tab }) => tab === props.tab) ? props.tab : tabs[0]?.tab;
  return (
    <header class="head">
      <div class="title">
        <div class="row">
          <h1 class="mono clip" style={{ fontSize: '14px' }} title={harmless(commandLine(row.argv))}>
            {harmless(commandLine(row.argv), 300)}
          </h1>
          <span class={`badge ${state.tone}`}>{state.text}</span>
        </div>
        <div class="muted clip" style={{ fontSize: '12.5px' }}>
          {[
            details?.cwd ? harmless(pathOfUri(details.cwd)) : null,
            row.pid === null ? null : `pid ${row.pid}`,
            `started ${moment(row.startedAtMs)}`,
            `${row.exited ? 'ran' : 'runs'} ${duration((details?.endedAtMs ?? now) - row.startedAtMs)}`,
            details?.clientName ? `by ${harmless(details.clientName, 60)}` : null,
            row.lease === undefined ? 'ends with its session' : leaseText(row.lease),
            details && details.sandboxType !== 'none' ? 'sandboxed' : null,
          ]
            .filter((each) => each !== null)
            .map((each, index) => (
              <>
                {index > 0 && ' · '}
                {/* Whatever direction its letters have. */}
                <bdi>{each}</bdi>
              </>
            ))}
        </div>
      </div>
      {tabs.length > 1 && (
        <nav class="tabs" aria-label="Views of the process">
          {tabs.map(({ tab, label }) => (
            <a
              href={addressOf({ view: 'process', machine: machine.id, session, process: processId, tab })}
              {...(tab === current ? { 'aria-current': 'page' as const } : {})}
              key={tab}
            >
              {label}
            </a>
          ))}
        </nav>
      )}
      {canChange() && isKnown && !row.exited && (
        <>
          <ProcessPorts machine={machine} processId={processId} />
          <Controls {...props} />
        </>
      )}
    </header>
  );
}

function leaseText(lease: NonNullable<ServerProcess['lease']>): string {
  return typeof lease === 'number' ? `kept for ${duration(lease)}` : lease;
}

function Controls({ machine, session, processId }: ProcessPlace) {
  const [isAsking, setAsking] = useState(false);
  const signal = async (name: (typeof SIGNALS)[number]): Promise<void> => {
    await machine.environment.signalOnServer({ processId, sessionId: session, signal: name });
    tell(`${name} was sent.`);
  };
  const terminate = async (): Promise<void> => {
    await machine.environment.terminateOnServer({ processId, sessionId: session, graceMs: GRACE_MS });
    machine.refresh();
  };
  return (
    <>
      <select
        class="input fit"
        aria-label="Send a signal"
        value=""
        onChange={(event) => {
          const name = SIGNALS.find((each) => each === event.currentTarget.value);
          event.currentTarget.value = '';
          if (name) void attempt(() => signal(name));
        }}
      >
        <option value="">Signal…</option>
        {SIGNALS.map((name) => (
          <option value={name} key={name}>
            {name}
          </option>
        ))}
      </select>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Terminate
      </button>
      {isAsking && (
        <Confirm
          title="Terminate this process?"
          text="It is asked to end, and killed after five seconds, with everything it started."
          action="Terminate"
          onConfirm={() => void attempt(terminate)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
