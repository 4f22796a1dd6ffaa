import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { takeRecordings } from './lib/dropped.js';
import { closeMachines, type Machine, machines, openFleetMachine, openMachines } from './lib/machine.js';
import { addressOf, type Route, route } from './lib/router.js';
import { canChange, session } from './lib/session.js';
import { starting } from './lib/starting.js';
import { useStore } from './lib/store.js';
import { Empty } from './ui/empty.js';
import { Toasts } from './ui/toasts.js';
import { ChangesView } from './views/changes.js';
import { FilesView } from './views/files.js';
import { GridView } from './views/grid.js';
import { MachinesView } from './views/machines.js';
import { Palette } from './views/palette.js';
import { PlayerView } from './views/player.js';
import { PortsView } from './views/ports.js';
import { ProcessView } from './views/process.js';
import { ProcessesView } from './views/processes.js';
import { Side } from './views/side.js';
import { SignIn } from './views/sign-in.js';
import { StartDialog } from './views/start.js';

export function App() {
  const who = useStore(session);
  const isSignedIn = who !== null && who !== 'loading';
  useEffect(() => {
    if (isSignedIn) openMachines(who.machines);
    else closeMachines();
  }, [isSignedIn]);
  if (who === 'loading') return <main aria-busy="true" aria-label="Loading" />;
  return (
    <>
      {isSignedIn ? <SignedIn /> : <SignIn />}
      <Toasts />
    </>
  );
}

function SignedIn() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const at = useStore(route);
  const all = useStore(machines);
  const startingOn = useStore(starting);
  useEffect(takeRecordings, []);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      setPaletteOpen((isOpen) => !isOpen);
    };
    // Before a terminal takes it.
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  return (
    <div class="frame">
      <Side onPalette={() => setPaletteOpen(true)} />
      <main class="main">
        <View route={at} machines={all} />
      </main>
      {startingOn && <StartDialog machine={startingOn} onClose={() => starting.set(null)} />}
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
    </div>
  );
}

/** Viewers are not even offered these, but they may have been sent an address. */
const FOR_FULL_ACCESS: ReadonlySet<string> = new Set(['files', 'ports', 'changes']);

function View({ route: at, machines: all }: { route: Route; machines: readonly Machine[] }) {
  const wanted = 'machine' in at ? at.machine : null;
  const machine = all.find(({ id }) => id === wanted);
  useEffect(() => {
    if (wanted !== null && !machine) openFleetMachine(wanted);
  }, [wanted, machine, all]);
  if (at.view === 'machines') return <MachinesView machines={all} />;
  if (at.view === 'player') return <PlayerView />;
  if (!machine)
    return (
      <Empty title="There is no such machine here.">
        <a href="#/">All machines</a>
      </Empty>
    );
  if (!canChange() && FOR_FULL_ACCESS.has(at.view))
    return (
      <Empty title="This needs full access.">
        <p>
          You came by a link for viewers: it shows processes and what they print, but no files, ports or held
          changes.
        </p>
        <a href={addressOf({ view: 'processes', machine: machine.id })}>Processes of {machine.id}</a>
      </Empty>
    );
  switch (at.view) {
    case 'processes':
      return <ProcessesView machine={machine} key={machine.id} />;
    case 'grid':
      return <GridView machine={machine} key={machine.id} />;
    case 'files':
      return <FilesView machine={machine} path={at.path} key={machine.id} />;
    case 'ports':
      return <PortsView machine={machine} key={machine.id} />;
    case 'changes':
      return <ChangesView machine={machine} set={at.set} key={machine.id} />;
    case 'process':
      return (
        <ProcessView
          machine={machine}
          session={at.session}
          processId={at.process}
          tab={at.tab}
          key={`${machine.id} ${at.session} ${at.process}`}
        />
      );
  }
}
