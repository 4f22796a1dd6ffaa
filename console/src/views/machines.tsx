import type { Machine, MachineState } from '../lib/machine.js';
import { addressOf } from '../lib/router.js';
import { bytes, counted } from '../lib/format.js';
import { useStore } from '../lib/store.js';
import { Empty } from '../ui/empty.js';
import { FleetSection } from './fleet.js';
import { Numbers } from './numbers.js';
import { dotOf } from './side.js';

export function MachinesView({ machines }: { machines: readonly Machine[] }) {
  return (
    <>
      <header class="head">
        <h1>Machines</h1>
        <span class="muted">{counted(machines.length, 'machine')}</span>
      </header>
      <div class="body">
        {machines.length === 0 && (
          <Empty title="No machine is configured.">
            <p>Add machines to environments.toml and start the console again.</p>
          </Empty>
        )}
        <div class="cards">
          {machines.map((machine) => (
            <MachineCard machine={machine} key={machine.id} />
          ))}
        </div>
        <FleetSection />
      </div>
    </>
  );
}

function MachineCard({ machine }: { machine: Machine }) {
  const state = useStore(machine.state);
  const { status, problem, processes, samples } = state;
  const running = processes.filter(({ exited }) => !exited).length;
  return (
    <section class="card machine" aria-label={`Machine ${machine.id}`}>
      <div class="row">
        <span class={`dot ${dotOf(status)}`} />
        <h2 class="grow clip" style={{ fontSize: '15px' }}>
          <a href={addressOf({ view: 'processes', machine: machine.id })} style={{ color: 'inherit' }}>
            {machine.id}
          </a>
        </h2>
        <span class={`badge ${dotOf(status)}`}>{status}</span>
      </div>
      {problem !== null && <p class="muted">{problem}</p>}
      <Facts machine={machine} state={state} running={running} />
      {samples.length > 0 && <Numbers samples={samples} />}
    </section>
  );
}

function Facts(props: { machine: Machine; state: MachineState; running: number }) {
  const { info, processes, samples } = props.state;
  const usage = samples.at(-1)?.usage;
  const version = info?.executorVersion?.split('+')[1] ?? info?.executorVersion;
  const rows: [string, string][] = [
    ['Where', props.machine.row.where],
    ...(info?.platformOs ? [['System', info.platformOs] as [string, string]] : []),
    ...(version ? [['Server', version.replace('execwire.', 'Execwire ')] as [string, string]] : []),
    ['Processes', `${props.running} running, ${processes.length - props.running} ended`],
    ...(usage
      ? [
          [
            'Load',
            `${usage.loadAverage.map((each) => each.toFixed(2)).join(', ')} on ${counted(usage.cpus, 'CPU')}`,
          ] as [string, string],
          [
            'Memory',
            `${bytes(usage.memoryBytes - usage.availableBytes)} of ${bytes(usage.memoryBytes)} in use`,
          ] as [string, string],
        ]
      : []),
    ...(info?.sandbox ? [['Sandbox', sandboxText(info.sandbox)] as [string, string]] : []),
  ];
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function sandboxText({ level, hint }: { level: 'full' | 'none'; hint?: string | undefined }): string {
  return level === 'full' ? 'policies are enforced' : `cannot enforce policies${hint ? `: ${hint}` : ''}`;
}
