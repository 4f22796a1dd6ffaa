import { useEffect, useRef, useState } from 'preact/hooks';
import { commandLine, harmless } from '../lib/format.js';
import { machines } from '../lib/machine.js';
import { stateOf } from '../lib/process-state.js';
import { go, type Route } from '../lib/router.js';
import { canChange, signOut } from '../lib/session.js';
import { starting } from '../lib/starting.js';
import { toggleTheme } from '../lib/theme.js';
import { Dialog } from '../ui/dialog.js';
import { Icon, type IconName } from '../ui/icons.js';

interface Choice {
  readonly icon: IconName;
  readonly text: string;
  readonly hint: string;
  readonly run: () => void;
}

const MAX_SHOWN = 50;

/** Everything one can go to or do, found by typing. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = choices()
    .filter((choice) => matches(choice, text))
    .slice(0, MAX_SHOWN);
  const selected = Math.min(at, found.length - 1);
  useEffect(() => list.current?.children[selected]?.scrollIntoView({ block: 'nearest' }), [selected]);
  const run = (choice: Choice | undefined): void => {
    onClose();
    choice?.run();
  };
  return (
    <Dialog title="Search" className="palette" onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${selected}` : undefined}
        aria-label="Search processes, machines and actions"
        placeholder="Search processes, machines and actions"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(selected + 1, found.length - 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, 0));
          else if (event.key === 'Enter') run(found[selected]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Results" ref={list}>
        {found.map((choice, index) => (
          <li
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => run(choice)}
            onMouseMove={() => setAt(index)}
            key={`${choice.text} ${choice.hint} ${index}`}
          >
            <Icon name={choice.icon} />
            <span class="grow clip">{choice.text}</span>
            <span class="muted clip">{choice.hint}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="muted">Nothing matches.</p>}
    </Dialog>
  );
}

function matches({ text, hint }: Choice, wanted: string): boolean {
  const all = `${text} ${hint}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function choices(): Choice[] {
  const to = (icon: IconName, text: string, hint: string, route: Route): Choice => ({
    icon,
    text,
    hint,
    run: () => go(route),
  });
  const ofMachines = machines.value.flatMap((machine) => [
    to('processes', 'Processes', machine.id, { view: 'processes', machine: machine.id }),
    to('grid', 'Terminals', machine.id, { view: 'grid', machine: machine.id }),
    ...(canChange()
      ? [
          {
            icon: 'plus' as const,
            text: 'Start a process',
            hint: machine.id,
            run: () => starting.set(machine),
          },
          to('files', 'Files', machine.id, { view: 'files', machine: machine.id, path: null }),
          to('port', 'Ports', machine.id, { view: 'ports', machine: machine.id }),
          to('diff', 'Changes', machine.id, { view: 'changes', machine: machine.id, set: null }),
        ]
      : []),
  ]);
  const processes = machines.value.flatMap((machine) =>
    machine.state.value.processes
      .filter(({ details }) => details)
      .map((row) =>
        to(
          row.tty ? 'keyboard' : 'processes',
          harmless(commandLine(row.argv), 120),
          `${machine.id}, ${stateOf(row).text}`,
          {
            view: 'process',
            machine: machine.id,
            session: row.sessionId,
            process: row.processId,
            tab: row.tty ? 'live' : 'output',
          },
        ),
      ),
  );
  return [
    to('machine', 'Machines', '', { view: 'machines' }),
    ...ofMachines,
    to('play', 'Player', 'a .cast file', { view: 'player' }),
    { icon: 'theme', text: 'Light or dark', hint: '', run: toggleTheme },
    { icon: 'out', text: 'Sign out', hint: '', run: () => void signOut() },
    ...processes,
  ];
}
