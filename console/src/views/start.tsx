import { useState } from 'preact/hooks';
import { namedSandbox } from '../../../src/policy/named-sandbox.js';
import { fileUri, type Sandbox } from '../../../src/protocol/index.js';
import { pathOfUri, words } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import { go } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { attempt } from '../lib/toasts.js';
import { Dialog } from '../ui/dialog.js';

const POLICIES = ['none', 'workspace-write', 'read-only'] as const;
type Policy = (typeof POLICIES)[number];

const POLICY_TEXT: Record<Policy, string> = {
  none: 'No sandbox',
  'workspace-write': 'Write below the directory only',
  'read-only': 'Write nothing',
};

/** Starts a process that goes on when the page is closed. */
export function StartDialog({ machine, onClose }: { machine: Machine; onClose: () => void }) {
  const { info } = useStore(machine.state);
  const [line, setLine] = useState('');
  const [typedDirectory, setDirectory] = useState<string>();
  const directory = typedDirectory ?? (info?.cwd ? pathOfUri(info.cwd) : '');
  const [policy, setPolicy] = useState<Policy>('none');
  const [hasTerminal, setTerminal] = useState(true);
  const [isShell, setShell] = useState(true);
  const [holds, setHolds] = useState(false);
  const canHold = policy === 'workspace-write' && canHoldChanges(machine);
  const split = words(line);
  const [isStarting, setStarting] = useState(false);
  const canStart = line.trim() !== '' && (isShell || split !== null) && !isStarting;
  const start = async (): Promise<void> => {
    const environment = await machine.connected();
    const { spool, leases } = environment.client.serverCapabilities;
    // The dialog may have been opened before the machine had said who it is.
    const known = machine.state.value.info;
    const argv = isShell ? [known?.shell.path ?? '/bin/sh', '-c', line] : (split ?? []);
    const cwd = typedDirectory ?? pathOfUri(known?.cwd ?? '/');
    const child = await environment.start({
      argv,
      cwd,
      tty: hasTerminal,
      ...(hasTerminal ? { size: { rows: 30, cols: 100 }, env: { TERM: 'xterm-256color' } } : {}),
      ...(leases ? { lease: 'kept' as const } : {}),
      ...(spool ? { retain: 'disk' as const, onSlowReader: 'spool' as const } : {}),
      ...(policy === 'none' ? {} : { sandbox: sandboxOf(policy, cwd, canHold && holds) }),
    });
    // Its output is read where it is shown.
    if (leases) await child.detach();
    machine.refresh();
    const session = leases ? 'kept' : environment.client.sessionId;
    const tab = hasTerminal ? 'live' : 'output';
    go({ view: 'process', machine: machine.id, session, process: child.processId, tab });
    onClose();
  };
  return (
    <Dialog title="Start a process" onClose={onClose}>
      <form
        class="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (!canStart) return;
          setStarting(true);
          void attempt(start).then(() => setStarting(false));
        }}
      >
        <h2>Start a process on {machine.id}</h2>
        <label class="field">
          <span>Command</span>
          <input
            class="input mono"
            value={line}
            placeholder="npm test"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setLine(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Directory</span>
          <input
            class="input mono"
            value={directory}
            spellcheck={false}
            onInput={(event) => setDirectory(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Sandbox</span>
          <select
            class="input"
            value={policy}
            onChange={(event) =>
              setPolicy(POLICIES.find((each) => each === event.currentTarget.value) ?? 'none')
            }
          >
            {POLICIES.map((each) => (
              <option value={each} key={each}>
                {POLICY_TEXT[each]}
              </option>
            ))}
          </select>
        </label>
        {canHold && (
          <Check label="Hold its changes until somebody applies them" isOn={holds} set={setHolds} />
        )}
        <Check label="On a terminal" isOn={hasTerminal} set={setTerminal} />
        <Check label="Through the shell: pipes, variables and wildcards work" isOn={isShell} set={setShell} />
        <div class="dialog-foot">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={!canStart}>
            Start
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A set of changes that outlives this page: it is listed under Changes. */
function sandboxOf(policy: string, directory: string, holds: boolean): Sandbox | null {
  const sandbox = namedSandbox({ policy }, { workspace: fileUri(directory) });
  if (!sandbox || !holds) return sandbox;
  return { ...sandbox, changes: 'hold', changesLease: 'kept' };
}

function canHoldChanges(machine: Machine): boolean {
  try {
    return machine.environment.client.serverCapabilities.changes === true;
  } catch {
    return false;
  }
}

function Check(props: { label: string; isOn: boolean; set: (isOn: boolean) => void }) {
  return (
    <label class="row">
      <input
        type="checkbox"
        checked={props.isOn}
        onChange={(event) => props.set(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}
