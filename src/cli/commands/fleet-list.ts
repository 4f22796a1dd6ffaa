import { setTimeout as pause } from 'node:timers/promises';
import { type Fleet, parseSelector, type RemoteMachine, type Selector } from '../../fleet/index.js';
import { isExecError } from '../../protocol/errors.js';
import { complain } from '../exit-codes.js';
import { formatJson, printable } from '../terminal/table.js';
import { withFleet } from './fleet-connection.js';
import { ageOf, HEADINGS, remoteJson, rowOf, tableOf } from './fleet-rows.js';

/** Clears the screen and goes to its top. */
const CLEAR = '\u001b[H\u001b[2J';
/** Machines of registries come and go without being reported. */
const LOOK_AGAIN_MS = 2_000;

/** Prints the machines that answer, and those that gateways know. */
export async function listMachines(
  text: string | undefined,
  { json = false, watch = false, registry = false }: { json?: boolean; watch?: boolean; registry?: boolean },
): Promise<void> {
  const selector = text === undefined ? undefined : parseSelector(text);
  await withFleet(async (fleet) => {
    if (watch) return await keepListing(fleet, selector, json);
    if (registry) {
      const machines = await fleet.listRegistered(selector);
      return void process.stdout.write(json ? formatJson(machines) : tableOf(machines, [], ageOf));
    }
    const [machines, remotes] = await Promise.all([fleet.list(selector), fleet.listRemote(selector)]);
    process.stdout.write(
      json ? formatJson([...machines, ...remotes.map(remoteJson)]) : tableOf(machines, remotes),
    );
    // Says which label nobody has.
    if (machines.length + remotes.length === 0 && selector && !json)
      await fleet.choose(selector).catch(complain);
  });
}

/** Describes a machine of the fleet, or else one of a registry. */
export async function describeMachine(name: string, { json = false }: { json?: boolean }): Promise<void> {
  await withFleet(async (fleet) => {
    const machine = await fleet.describe(name).catch(async (error: unknown) => {
      const remote = await remoteNamed(fleet, name, error);
      if (json) process.stdout.write(formatJson(remoteJson(remote)));
      else printPairs(remotePairs(remote));
    });
    if (!machine) return;
    if (json) return void process.stdout.write(formatJson(machine));
    const row = rowOf(machine);
    printPairs([
      ...HEADINGS.map((heading, index) => [heading.toLowerCase(), row[index] ?? '']),
      ['cores', String(machine.cores)],
      ['sessions', String(machine.sessions)],
      ...(machine.jobs ? [['jobs', `${machine.jobs.running} of ${machine.jobs.slots}`]] : []),
      ['joined', new Date(machine.seenAt - (machine.upMs ?? 0)).toISOString()],
    ]);
  });
}

/** Fails as the fleet did if no registry knows it either. */
async function remoteNamed(fleet: Fleet, name: string, error: unknown): Promise<RemoteMachine> {
  const isAbsent = isExecError(error, 'notConnected') && error.data.isAbsent === true;
  const isNoName = isExecError(error, 'invalidConfiguration');
  const found = isAbsent || isNoName ? await fleet.listRemote() : [];
  const remote = found.find(({ id }) => id === name);
  if (!remote) throw error;
  return remote;
}

function remotePairs(remote: RemoteMachine): string[][] {
  const { id, state, gateway, clients, sinceMs, url } = remote;
  return [
    ['name', id],
    ['state', state],
    ['since', new Date(Date.now() - sinceMs).toISOString()],
    ['gateway', gateway],
    ['clients', String(clients)],
    ...(url === undefined ? [] : [['address', url]]),
  ];
}

function printPairs(pairs: readonly (readonly string[])[]): void {
  for (const [key = '', value = ''] of pairs) process.stdout.write(`${key.padEnd(10)} ${printable(value)}\n`);
}

/** Draws the list again whenever something has changed. */
async function keepListing(fleet: Fleet, selector: Selector | undefined, json: boolean): Promise<void> {
  let known = '';
  const draw = async ({ onlyIfRemotesChanged }: { onlyIfRemotesChanged: boolean }): Promise<void> => {
    const remotes = await fleet.listRemote(selector);
    const before = known;
    known = remotes
      .map(({ id, gateway, state, clients }) => `${id} ${gateway} ${state} ${clients}`)
      .join('\n');
    if (onlyIfRemotesChanged && known === before) return;
    const machines = await fleet.list(selector);
    if (json) process.stdout.write(`${JSON.stringify([...machines, ...remotes.map(remoteJson)])}\n`);
    else process.stdout.write(`${process.stdout.isTTY ? CLEAR : ''}${tableOf(machines, remotes)}`);
  };
  await draw({ onlyIfRemotesChanged: false });
  const events = fleet.watch();
  for (let event = events.next(); ; ) {
    const happened = await Promise.race([event, pause(LOOK_AGAIN_MS, null)]);
    if (happened?.done) return;
    if (happened) event = events.next();
    await draw({ onlyIfRemotesChanged: !happened });
  }
}
