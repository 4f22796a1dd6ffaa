import type { Machine, RemoteMachine } from '../../fleet/index.js';
import { durationOf } from '../terminal/quantities.js';
import { formatTable } from '../terminal/table.js';

export const HEADINGS = ['NAME', 'STATE', 'LABELS', 'VERSION', 'LOAD', 'PROCESSES', 'SANDBOX', 'UP', 'SEEN'];

/** When a machine was heard of last. */
export type Seen = (machine: Machine) => string;

/** It has just answered. */
export const now: Seen = () => 'now';

/** It has told the registry. */
export const ageOf: Seen = ({ seenAt }) => `${durationOf(Math.max(0, Date.now() - seenAt) / 1000)} ago`;

export function tableOf(
  machines: readonly Machine[],
  remotes: readonly RemoteMachine[],
  seen: Seen = now,
): string {
  const rows = machines.map((machine) => rowOf(machine, seen));
  return formatTable(HEADINGS, [...rows, ...remotes.map(remoteRowOf)]);
}

export function rowOf(machine: Machine, seen: Seen = now): string[] {
  const { name, state, labels, version, load, cores, processes, sandbox, upMs = 0 } = machine;
  return [
    name,
    state,
    labelText(labels),
    version,
    `${load.toFixed(2)}/${cores}`,
    String(processes),
    sandbox,
    durationOf(upMs / 1000),
    seen(machine),
  ];
}

/** The gateway sees ciphertext, so it cannot tell what runs there. */
function remoteRowOf({ id, state, labels, sinceMs }: RemoteMachine): string[] {
  const since = durationOf(sinceMs / 1000);
  const [up, seen] = state === 'connected' ? [since, 'now'] : ['-', `${since} ago`];
  return [id, state, labelText(labels), '-', '-', '-', '-', up, seen];
}

/** What is printed as JSON, in the form of a machine as far as it goes. */
export function remoteJson({ id, state, labels, clients, sinceMs, url }: RemoteMachine): object {
  return {
    name: id,
    state,
    labels,
    clients,
    sinceMs,
    ...(url === undefined ? {} : { url }),
  };
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => (value === '' ? key : `${key}=${value}`));
  return pairs.join(',');
}
