import { lazy, Suspense } from 'preact/compat';
import { useState } from 'preact/hooks';
import { commandLine, harmless } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import { useStore } from '../lib/store.js';
import { Empty } from '../ui/empty.js';

const TerminalView = lazy(() => import('../terminal/terminal-view.js'));

const PLACES = 4;

/** Four terminals side by side: the newest that run, until somebody chooses others. */
export function GridView({ machine }: { machine: Machine }) {
  const { processes, listedAtMs } = useStore(machine.state);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const terminals = processes
    .filter(({ tty, exited, details }) => tty && details && (!exited || chosen.length > 0))
    .sort((a, b) => b.startedAtMs - a.startedAtMs);
  const keyOf = (row: (typeof terminals)[number]): string => `${row.sessionId} ${row.processId}`;
  const wanted = [...chosen.filter((key) => terminals.some((row) => keyOf(row) === key))];
  for (const row of terminals)
    if (wanted.length < PLACES && !row.exited && !wanted.includes(keyOf(row))) wanted.push(keyOf(row));
  const shown = wanted.slice(0, PLACES).flatMap((key) => terminals.filter((row) => keyOf(row) === key));
  const others = terminals.filter((row) => !wanted.slice(0, PLACES).includes(keyOf(row)));
  return (
    <>
      <header class="head">
        <h1>Terminals</h1>
        <span class="muted grow clip">on {machine.id}</span>
        {others.length > 0 && (
          <select
            class="input"
            style={{ width: 'auto', maxWidth: '240px' }}
            aria-label="Show another terminal"
            value=""
            onChange={(event) => {
              setChosen([event.currentTarget.value, ...wanted].slice(0, PLACES));
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
                    label={harmless(commandLine(row.argv), 60)}
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
