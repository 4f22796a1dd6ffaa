import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import type { ServerProcess } from '../../../src/client/index.js';
import { commandLine, harmless } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import { addressOf } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { Empty } from '../ui/empty.js';

const TerminalView = lazy(() => import('../terminal/terminal-view.js'));

const PLACES = 4;

/** Four terminals side by side: the newest that run. They keep their places until they have ended and others want them. */
export function GridView({ machine }: { machine: Machine }) {
  const { processes, listedAtMs, connections } = useStore(machine.state);
  const [kept, setKept] = useState<readonly string[]>([]);
  const terminals = processes
    .filter(({ tty, details }) => tty && details)
    .sort((a, b) => b.startedAtMs - a.startedAtMs);
  const shown = placed(kept, terminals);
  const keys = shown.map(keyOf);
  useEffect(() => setKept(keys), [keys.join('\n')]);
  const others = terminals.filter((row) => !keys.includes(keyOf(row)));
  return (
    <>
      <header class="head">
        <h1>Terminals</h1>
        <span class="muted grow clip">on {machine.id}</span>
        {others.length > 0 && (
          <select
            class="input fit"
            style={{ maxWidth: '240px' }}
            aria-label="Show another terminal"
            value=""
            onChange={(event) => {
              setKept([event.currentTarget.value, ...keys].slice(0, PLACES));
              event.currentTarget.value = '';
            }}
          >
            <option value="">Show another…</option>
            {others.map((row) => (
              <option value={keyOf(row)} key={keyOf(row)}>
                {harmless(commandLine(row.argv), 60)}
              </option>
            ))}
          </select>
        )}
      </header>
      <div class="body flush">
        {shown.length === 0 ? (
          <Empty title={listedAtMs === 0 ? 'Loading…' : 'No terminal is open.'}>
            {listedAtMs > 0 && <p>Start a process on a terminal, and it appears here.</p>}
          </Empty>
        ) : (
          <div class="grid4">
            {shown.map((row) => (
              <section key={keyOf(row)} aria-label={harmless(commandLine(row.argv), 60)}>
                <Suspense fallback={<div class="terminal-area" />}>
                  <TerminalView
                    machine={machine}
                    session={row.sessionId}
                    processId={row.processId}
                    named={{
                      label: harmless(commandLine(row.argv), 60),
                      address: addressOf({
                        view: 'process',
                        machine: machine.id,
                        session: row.sessionId,
                        process: row.processId,
                        tab: 'live',
                      }),
                    }}
                    key={connections}
                  />
                </Suspense>
              </section>
            ))}
          </div>
        )}
      </div>
    </>
  );
}

function keyOf({ sessionId, processId }: ServerProcess): string {
  return `${sessionId} ${processId}`;
}

/** Which terminals are shown, in order. `terminals` begin with the newest. */
function placed(kept: readonly string[], terminals: readonly ServerProcess[]): ServerProcess[] {
  const shown = kept.flatMap((key) => terminals.filter((row) => keyOf(row) === key));
  for (const row of terminals) {
    if (row.exited || shown.includes(row)) continue;
    const free = shown.length < PLACES ? shown.length : shown.findIndex(({ exited }) => exited);
    if (free === -1) break;
    shown[free] = row;
  }
  return shown;
}
