import { type Fleet, type Machine, parseSelector, type Selector } from '../../fleet/index.js';
import { complain } from '../exit-codes.js';
import { formatJson, formatTable, printable } from '../terminal/table.js';
import { durationOf } from '../terminal/quantities.js';
import { withFleet } from './fleet-connection.js';

const HEADINGS = ['NAME', 'STATE', 'LABELS', 'VERSION', 'LOAD', 'PROCESSES', 'SANDBOX', 'UP', 'SEEN'];
/** Clears the screen and goes to its top. */
const CLEAR = '\u001b[H\u001b[2J';

/** Prints the machines that answer. */
export async function listMachines(
  text: string | undefined,
  { json = false, watch = false, registry = false }: { json?: boolean; watch?: boolean; registry?: boolean },
): Promise<void> {
  const selector = text === undefined ? undefined : parseSelector(text);
  await withFleet(async (fleet) => {
    if (watch) return await keepListing(fleet, selector, json);
    const machines = registry ? await fleet.listRegistered(selector) : await fleet.list(selector);
    process.stdout.write(json ? formatJson(machines) : tableOf(machines, registry ? ageOf : now));
    // Says which label nobody has.
    if (machines.length === 0 && selector && !json && !registry) await fleet.choose(selector).catch(complain);
  });
}

export async function describeMachine(name: string, { json = false }: { json?: boolean }): Promise<void> {
  const machine = await withFleet((fleet) => fleet.describe(name));
  if (json) return void process.stdout.write(formatJson(machine));
  const row = rowOf(machine, now);
  const rows = HEADINGS.map((heading, index) => [heading.toLowerCase(), row[index] ?? '']);
  const more = [
    ['cores', String(machine.cores)],
    ['sessions', String(machine.sessions)],
    ...(machine.jobs ? [['jobs', `${machine.jobs.running} of ${machine.jobs.slots}`]] : []),
    ['joined', new Date(machine.seenAt - (machine.upMs ?? 0)).toISOString()],
  ];
  for (const [key = '', value = ''] of [...rows, ...more])
    process.stdout.write(`${key.padEnd(10)} ${printable(value)}\n`);
}

/** Draws the list again whenever something has changed. */
async function keepListing(fleet: Fleet, selector: Selector | undefined, json: boolean): Promise<void> {
  const draw = async (): Promise<void> => {
    const machines = await fleet.list(selector);
    if (json) process.stdout.write(`${JSON.stringify(machines)}\n`);
    else process.stdout.write(`${process.stdout.isTTY ? CLEAR : ''}${tableOf(machines, now)}`);
  };
  await draw();
  for await (const _ of fleet.watch()) await draw();
}

/** When a machine was heard of last. */
type Seen = (machine: Machine) => string;

/** It has just answered. */
const now: Seen = () => 'now';

/** It has told the registry. */
const ageOf: Seen = ({ seenAt }) => `${durationOf(Math.max(0, Date.now() - seenAt) / 1000)} ago`;

function tableOf(machines: readonly Machine[], seen: Seen): string {
  return formatTable(
    HEADINGS,
    machines.map((machine) => rowOf(machine, seen)),
  );
}

function rowOf(machine: Machine, seen: Seen): string[] {
  const { name, state, labels, version, load, cores, processes, sandbox, upMs = 0 } = machine;
  const pairs = Object.entries(labels).map(([key, value]) => (value === '' ? key : `${key}=${value}`));
  return [
    name,
    state,
    pairs.join(','),
    version,
    `${load.toFixed(2)}/${cores}`,
    String(processes),
    sandbox,
    durationOf(upMs / 1000),
    seen(machine),
  ];
}
