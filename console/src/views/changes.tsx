import { useEffect, useState } from 'preact/hooks';
import type { ChangeSetInfo } from '../../../src/contract/index.js';
import { messageOf } from '../lib/errors.js';
import { duration, harmless } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import type { Loaded } from '../lib/opened.js';
import { addressOf } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { Empty } from '../ui/empty.js';
import { ChangeSetView } from './change-set.js';
import { Notice } from './processes.js';

const POLL_MS = 2_000;

/** What sandboxes hold back on a machine: all sets, or what is in one. */
export function ChangesView({ machine, set }: { machine: Machine; set: string | null }) {
  const { status, problem: offline } = useStore(machine.state);
  const { value: sets, problem } = useSets(machine);
  const notice = status === 'online' ? null : <Notice status={status} problem={offline} />;
  if (set !== null) {
    const running = sets?.find(({ changesId }) => changesId === set)?.running ?? 0;
    return (
      <>
        {notice}
        <ChangeSetView machine={machine} changesId={set} running={running} key={set} />
      </>
    );
  }
  return (
    <>
      <header class="head">
        <h1>Changes</h1>
        <span class="muted grow clip">held on {machine.id}</span>
      </header>
      {notice}
      <div class="body">
        {problem !== undefined ? (
          <Empty title="This machine holds no changes.">
            <p>{problem}</p>
          </Empty>
        ) : sets === undefined ? (
          <Empty title="Loading…" />
        ) : sets.length === 0 ? (
          <Empty title="No changes are held.">
            <p>Start a process that may write below its directory and hold its changes: they appear here.</p>
          </Empty>
        ) : (
          <Sets machine={machine} sets={sets} />
        )}
      </div>
    </>
  );
}

function Sets({ machine, sets }: { machine: Machine; sets: readonly ChangeSetInfo[] }) {
  return (
    <div class="card">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Set</th>
            <th scope="col">Directories</th>
            <th scope="col" class="numeric" style={{ width: '110px' }}>
              Running
            </th>
            <th scope="col" class="numeric narrow-hide" style={{ width: '110px' }}>
              Age
            </th>
          </tr>
        </thead>
        <tbody>
          {sets.map(({ changesId, roots, running, createdAtMs, lease }) => (
            <tr key={changesId}>
              <td class="clip mono">
                <a href={addressOf({ view: 'changes', machine: machine.id, set: changesId })}>
                  {harmless(changesId, 64)}
                </a>{' '}
                {lease === 'session' && <span class="badge">ends with its session</span>}
              </td>
              <td class="clip mono muted">{roots.map((root) => harmless(root, 200)).join(', ')}</td>
              <td class="numeric">{running}</td>
              <td class="numeric muted narrow-hide">{duration(Date.now() - createdAtMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function useSets(machine: Machine): Loaded<readonly ChangeSetInfo[]> {
  const [sets, setSets] = useState<Loaded<readonly ChangeSetInfo[]>>({});
  const { status } = useStore(machine.state);
  useEffect(() => {
    if (status !== 'online') return undefined;
    let isOver = false;
    const look = async (): Promise<void> => {
      try {
        const value = await machine.environment.changeSets();
        if (!isOver) setSets({ value });
      } catch (error) {
        if (!isOver) setSets({ problem: messageOf(error) });
      }
    };
    void look();
    const timer = setInterval(() => document.hidden || void look(), POLL_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [machine, status]);
  return sets;
}
