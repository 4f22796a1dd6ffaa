import { Command, Option } from 'commander';
import { collect, wholeNumber } from '../options/listen-options.js';

interface ListFlags {
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly registry?: boolean;
}

/** `execwire fleet`: machines that dial out to NATS. */
export function fleetCommand(): Command {
  const fleet = new Command('fleet')
    .summary('list and manage the machines of a fleet')
    .description(
      'Machines of a fleet dial out to NATS (`execwire serve --fleet …`) and are reached with `-e fleet:NAME`.\n\n' +
        'Which fleet: EXECWIRE_FLEET, or fleet.toml in the configuration directory.',
    );
  addLooking(fleet);
  addManaging(fleet);
  addSetup(fleet);
  return fleet;
}

function addLooking(fleet: Command): void {
  fleet
    .command('ls')
    .description(
      'list the machines that answer right now, and those that gateways know from their registries',
    )
    .argument('[selector]', 'only those that match, such as pool=ci,gpu,!spot')
    .option('-w, --watch', 'keep the list up to date')
    .option('--registry', 'ask the registry instead of the machines: faster for many, up to 30 s behind')
    .option('--json', 'print JSON')
    .action(async (selector: string | undefined, flags: ListFlags) =>
      (await import('./fleet-list.js')).listMachines(selector, flags),
    );
  fleet
    .command('info')
    .description('describe a machine')
    .argument('<name>', 'its name in the fleet')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: { json?: boolean }) =>
      (await import('./fleet-list.js')).describeMachine(name, flags),
    );
  fleet
    .command('events')
    .description('report machines that join, change, leave or are lost')
    .option('--json', 'print one JSON document per line')
    .action(async (flags: { json?: boolean }) => (await import('./fleet-events.js')).printEvents(flags));
}

function addManaging(fleet: Command): void {
  const change = async (names: string[], state: 'ready' | 'cordoned'): Promise<void> =>
    (await import('./fleet-state.js')).changeState(names, state);
  fleet
    .command('cordon')
    .description('make selectors skip these machines; they can still be used by name')
    .argument('<name...>', 'names in the fleet')
    .action((names: string[]) => change(names, 'cordoned'));
  fleet
    .command('uncordon')
    .description('let these machines take work again')
    .argument('<name...>', 'names in the fleet')
    .action((names: string[]) => change(names, 'ready'));
  fleet
    .command('drain')
    .description('start nothing new on these machines, and wait until everything that runs has ended')
    .argument('<name...>', 'names in the fleet')
    .option('--no-wait', 'return as soon as the machines start nothing new')
    .action(async (names: string[], flags: { wait: boolean }) =>
      (await import('./fleet-state.js')).drain(names, flags),
    );
}

function addSetup(fleet: Command): void {
  fleet
    .command('init')
    .description('write the configuration of NATS servers, and the credentials of an administrator')
    .argument('<directory>', 'a new directory; keep it private')
    .option(
      '--node <host>',
      'a host for a NATS server; may be repeated (default: three on this machine)',
      collect,
      [],
    )
    .option(
      '--port <n>',
      'port for clients; further nodes on the same host use the next ones',
      wholeNumber,
      4222,
    )
    .option('--name <name>', 'name of the fleet', 'default')
    .action(async (directory: string, flags: { node: string[]; port: number; name: string }) =>
      (await import('./fleet-setup.js')).initFleet(directory, flags),
    );
  fleet
    .command('add')
    .description('write credentials for a machine or a client into a directory of `fleet init`')
    .argument('<directory>')
    .argument('<name>', 'of the machine or the client')
    .addOption(
      new Option('--role <role>', 'what it may do')
        .choices(['machine', 'client', 'admin', 'gateway'])
        .default('machine'),
    )
    .option('--machine <name>', 'client: a machine it may reach; may be repeated (default: all)', collect, [])
    .action(async (directory: string, name: string, flags: { role: 'machine'; machine: string[] }) =>
      (await import('./fleet-setup.js')).addMember(directory, name, flags),
    );
  fleet
    .command('prepare')
    .description('create the registry of machines and the queue of jobs; once, as an administrator')
    .action(async () => (await import('./fleet-setup.js')).prepareStreams());
  fleet
    .command('remove')
    .description('revoke the access of a machine or a client')
    .argument('<directory>')
    .argument('<name>')
    .action(async (directory: string, name: string) =>
      (await import('./fleet-setup.js')).removeMember(directory, name),
    );
  fleet
    .command('up')
    .description(
      'run the NATS servers of a directory on this machine, to try a fleet; creates the directory if needed',
    )
    .argument('[directory]', 'as of `fleet init`', 'execwire-fleet')
    .action(async (directory: string) => (await import('./fleet-setup.js')).runCluster(directory));
}
