import { useEffect, useState } from 'preact/hooks';
import { closeFleetMachine, type Machine, machines } from '../lib/machine.js';
import { addressOf, go, type Route, route } from '../lib/router.js';
import { session, signOut } from '../lib/session.js';
import { useStore } from '../lib/store.js';
import { toggleTheme } from '../lib/theme.js';
import { Icon, type IconName } from '../ui/icons.js';
import { LinksDialog } from './links.js';

/** Where one can go. On a narrow window, it is a menu. */
export function Side({ onPalette }: { onPalette: () => void }) {
  const [showsLinks, setShowsLinks] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const who = useStore(session);
  const isFull = who !== null && who !== 'loading' && who.role === 'full';
  const at = useStore(route);
  useEffect(() => setOpen(false), [at]);
  return (
    <>
      <nav class={`side ${isOpen ? 'is-open' : ''}`} aria-label="Main">
        <div class="side-bar">
          <a class="brand" href="#/" aria-label="Execwire, all machines">
            <img src="/icon.svg" alt="" />
            <span>Execwire</span>
          </a>
          <button
            type="button"
            class="button quiet icon side-menu"
            aria-label="Menu"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'close' : 'menu'} />
          </button>
        </div>
        {/* Pressing the place one is at already leads there, too. */}
        <div class="side-items" onClick={() => setOpen(false)}>
          <Item to={{ view: 'machines' }} icon="machine" label="Machines" />
          <Item to={{ view: 'player' }} icon="play" label="Player" />
          {useStore(machines).map((machine) => (
            <MachineItems machine={machine} key={machine.id} />
          ))}
          <span class="grow" />
          {!isFull && <span class="badge warn">View only</span>}
          <Action icon="search" label="Search" hint="Ctrl K" run={onPalette} />
          {isFull && <Action icon="link" label="Links for viewers" run={() => setShowsLinks(true)} />}
          <Action icon="theme" label="Light or dark" run={toggleTheme} />
          <Action icon="out" label="Sign out" run={() => void signOut()} />
        </div>
      </nav>
      {showsLinks && <LinksDialog onClose={() => setShowsLinks(false)} />}
    </>
  );
}

function MachineItems({ machine }: { machine: Machine }) {
  const { status, processes } = useStore(machine.state);
  const running = processes.filter(({ exited }) => !exited).length;
  const who = useStore(session);
  const isFull = who !== null && who !== 'loading' && who.role === 'full';
  const { id } = machine;
  return (
    <>
      <div class="side-title row">
        <span class={`dot ${dotOf(status)}`} />
        <span class="clip grow">{id}</span>
        <span class="visually-hidden">{status}</span>
        {machine.row.kind === 'fleet' && (
          <a
            class="button quiet icon small"
            href="#/"
            aria-label={`Disconnect from ${id}`}
            onClick={() => {
              // Otherwise the view that is shown would connect to it again.
              go({ view: 'machines' });
              closeFleetMachine(machine);
            }}
          >
            <Icon name="close" />
          </a>
        )}
      </div>
      <Item to={{ view: 'processes', machine: id }} icon="processes" label="Processes" count={running} />
      <Item to={{ view: 'grid', machine: id }} icon="grid" label="Terminals" />
      {isFull && (
        <>
          <Item to={{ view: 'files', machine: id, path: null }} icon="files" label="Files" />
          <Item to={{ view: 'ports', machine: id }} icon="port" label="Ports" />
          <Item to={{ view: 'changes', machine: id, set: null }} icon="diff" label="Changes" />
        </>
      )}
    </>
  );
}

export function dotOf(status: 'connecting' | 'online' | 'offline'): string {
  return status === 'online' ? 'good' : status === 'offline' ? 'bad' : 'warn';
}

function Item(props: { to: Route; icon: IconName; label: string; count?: number }) {
  const at = useStore(route);
  const machine = 'machine' in at ? at.machine : null;
  const view = at.view === 'process' ? 'processes' : at.view;
  const isCurrent = view === props.to.view && machine === ('machine' in props.to ? props.to.machine : null);
  return (
    <a class="item" href={addressOf(props.to)} {...(isCurrent ? { 'aria-current': 'page' as const } : {})}>
      <Icon name={props.icon} />
      <span class="label">{props.label}</span>
      {props.count ? <span class="badge">{props.count}</span> : null}
    </a>
  );
}

function Action(props: { icon: IconName; label: string; hint?: string; run: () => void }) {
  return (
    <button type="button" class="item" onClick={props.run}>
      <Icon name={props.icon} />
      <span class="label">{props.label}</span>
      {props.hint && <kbd aria-hidden="true">{props.hint}</kbd>}
    </button>
  );
}
