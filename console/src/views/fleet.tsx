import { useEffect, useState } from 'preact/hooks';
import type { FleetRow, FleetView } from '../../../src/console/machine.js';
import { harmless } from '../lib/format.js';
import { addressOf } from '../lib/router.js';
import { call, session } from '../lib/session.js';
import { useStore } from '../lib/store.js';

const POLL_MS = 2_000;
/** A machine says about itself what it likes: some of it is shown. */
const MAX_LABELS = 8;

/** The machines of the fleet that answer now, if there is a fleet. */
export function FleetSection() {
  const who = useStore(session);
  const hasFleet = who !== null && who !== 'loading' && who.hasFleet;
  return hasFleet ? <Fleet /> : null;
}

function Fleet() {
  const view = useFleet();
  const [text, setText] = useState('');
  if (!view) return null;
  const rows = view.machines.filter((row) => matches(row, text));
  return (
    <section aria-label="Fleet" class="fleet">
      <div class="row wrap">
        <h2 class="grow">
          Fleet <span class="muted">{view.total === 1 ? '1 machine' : `${view.total} machines`}</span>
        </h2>
        <input
          class="input search"
          type="search"
          placeholder="Filter by name or label"
          aria-label="Filter the fleet"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {view.problem !== null && (
        <p class="notice" role="status">
          {harmless(view.problem, 300)}
        </p>
      )}
      {rows.length > 0 && <Table rows={rows} />}
      {rows.length === 0 && view.problem === null && <p class="muted">No machine matches.</p>}
      {view.total > view.machines.length && (
        <p class="notice">{view.total - view.machines.length} more are not shown.</p>
      )}
    </section>
  );
}

function Table({ rows }: { rows: readonly FleetRow[] }) {
  return (
    <div class="card">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" style={{ width: '100px' }}>
              State
            </th>
            <th scope="col" class="narrow-hide">
              Labels
            </th>
            <th scope="col" class="numeric" style={{ width: '110px' }}>
              Load
            </th>
            <th scope="col" class="numeric narrow-hide" style={{ width: '100px' }}>
              Processes
            </th>
            <th scope="col" class="narrow-hide" style={{ width: '130px' }}>
              Version
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td class="clip">
                <a href={addressOf({ view: 'processes', machine: `fleet:${row.name}` })}>{row.name}</a>
              </td>
              <td>
                <span class={`badge ${row.state === 'ready' ? 'good' : 'warn'}`}>
                  {harmless(row.state, 20)}
                </span>
              </td>
              <td class="clip narrow-hide">
                {labelsOf(row)
                  .slice(0, MAX_LABELS)
                  .map((label) => (
                    <span class="badge" key={label}>
                      {harmless(label, 60)}
                    </span>
                  ))}
              </td>
              <td class="numeric">
                {row.load.toFixed(2)} / {row.cores}
              </td>
              <td class="numeric narrow-hide">{row.processes}</td>
              <td class="clip muted narrow-hide">{harmless(row.version, 40)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function useFleet(): FleetView | undefined {
  const [view, setView] = useState<FleetView>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const look = async (): Promise<void> => {
      const found = document.hidden ? null : await call<FleetView>('GET', '/api/fleet').catch(() => null);
      if (isOver) return;
      if (found) setView(found);
      timer = setTimeout(() => void look(), POLL_MS);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return view;
}

function labelsOf({ labels }: FleetRow): string[] {
  return Object.entries(labels).map(([key, value]) => (value === '' ? key : `${key}=${value}`));
}

function matches(row: FleetRow, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [row.name, row.state, ...labelsOf(row)].some((each) => each.toLowerCase().includes(wanted));
}
