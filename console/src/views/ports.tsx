import { useEffect, useState } from 'preact/hooks';
import type { ServerProcess } from '../../../src/client/index.js';
import type { ListeningPort } from '../../../src/contract/index.js';
import { commandLine, harmless } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import { closePort, keyOf, type OpenedPort, openedPorts, openPort, usePorts } from '../lib/ports.js';
import { addressOf } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { attempt } from '../lib/toasts.js';
import { Empty } from '../ui/empty.js';
import { Notice } from './processes.js';

/** Who listens where, and a way to look at it. */
export function PortsView({ machine }: { machine: Machine }) {
  const { processes, status, problem: offline } = useStore(machine.state);
  const { value: ports, problem } = usePorts(machine);
  const [showsAll, setShowsAll] = useState(false);
  const [opened, setOpened] = useState<readonly OpenedPort[]>([]);
  const reload = async (): Promise<void> => setOpened(await openedPorts());
  useEffect(() => void attempt(reload), []);
  const shown = ports?.filter(({ processId }) => showsAll || processId !== null) ?? [];
  const change = (task: () => Promise<void>): void =>
    void attempt(async () => {
      await task();
      await reload();
    });
  return (
    <>
      <header class="head">
        <h1>Ports</h1>
        <span class="muted grow clip">on {machine.id}</span>
        <label class="row">
          <input
            type="checkbox"
            checked={showsAll}
            onChange={(event) => setShowsAll(event.currentTarget.checked)}
          />
          <span>Also of other programs</span>
        </label>
      </header>
      {status !== 'online' && <Notice status={status} problem={offline} />}
      <div class="body">
        {problem !== undefined ? (
          <Empty title="The ports are not known.">
            <p>{problem}</p>
          </Empty>
        ) : ports === undefined ? (
          <Empty title="Loading…" />
        ) : shown.length === 0 ? (
          <Empty title="No process listens on a port.">
            <p>Start a server, and its port appears here.</p>
          </Empty>
        ) : (
          <div class="card">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col" style={{ width: '90px' }}>
                    Port
                  </th>
                  <th scope="col">Process</th>
                  <th scope="col" class="narrow-hide" style={{ width: '22%' }}>
                    Address
                  </th>
                  <th scope="col" style={{ width: '170px' }}>
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((port) => (
                  <Row
                    machine={machine}
                    port={port}
                    owner={ownerOf(processes, port)}
                    opened={opened.find((each) => isSame(each, machine, port))}
                    change={change}
                    key={keyOf(port)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
        <p class="muted" style={{ marginTop: '12px' }}>
          A port opens in a tab of its own, as HTTP. For other protocols, use <code>execwire forward</code>.
        </p>
      </div>
    </>
  );
}

function Row(props: {
  machine: Machine;
  port: ListeningPort;
  owner: ServerProcess | undefined;
  opened: OpenedPort | undefined;
  change: (task: () => Promise<void>) => void;
}) {
  const { machine, port, owner, opened, change } = props;
  return (
    <tr>
      <td class="mono">{port.port}</td>
      <td class="clip mono">
        {owner ? (
          <a
            href={addressOf({
              view: 'process',
              machine: machine.id,
              session: owner.sessionId,
              process: owner.processId,
              tab: 'live',
            })}
          >
            {harmless(commandLine(owner.argv), 120)}
          </a>
        ) : (
          <span class="muted">
            {port.processId === null ? 'another program' : harmless(port.processId, 60)}
          </span>
        )}
      </td>
      <td class="clip muted narrow-hide">
        {harmless(port.address, 60)} {port.sandboxed && <span class="badge">sandbox</span>}
      </td>
      <td class="numeric" style={{ whiteSpace: 'nowrap' }}>
        {opened && (
          <button
            type="button"
            class="button quiet"
            aria-label={`Close port ${port.port}`}
            onClick={() => change(() => closePort(opened))}
          >
            Close
          </button>
        )}
        <button
          type="button"
          class="button primary"
          aria-label={`Open port ${port.port}`}
          onClick={() => change(() => openPort(machine, port))}
        >
          Open
        </button>
      </td>
    </tr>
  );
}

/** A port says which session it is of only if that is not the one that asks: kept processes and our own have none. */
function ownerOf(processes: readonly ServerProcess[], port: ListeningPort): ServerProcess | undefined {
  const named = processes.filter(({ processId }) => processId === port.processId);
  return named.find(({ sessionId }) => sessionId === port.sessionId) ?? named[0];
}

function isSame(opened: OpenedPort, machine: Machine, { port, processId }: ListeningPort): boolean {
  return opened.machine === machine.id && opened.port === port && opened.processId === processId;
}
