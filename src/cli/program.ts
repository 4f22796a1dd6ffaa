import { Command } from 'commander';
import { describeOption, groupItems, namesOf } from './habits/help.js';
import { version } from '../host/machine-info.js';
import { reworded, withCommandHint, withHint } from './habits/hints.js';
import { refuseIdleOptions } from './options/required-options.js';

type Load = () => Promise<Command>;

/** Every command and its module, as help shows them. Imports are slow, so only the commands needed are loaded. */
const groups: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Run programs:': {
    run: async () => (await import('./commands/run.js')).runCommand(),
    shell: async () => (await import('./commands/shell.js')).shellCommand(),
    cp: async () => (await import('./commands/cp.js')).cpCommand(),
    forward: async () => (await import('./commands/forward.js')).forwardCommand(),
    ports: async () => (await import('./commands/ports.js')).portsCommand(),
  },
  'Programs that keep running:': {
    attach: async () => (await import('./commands/attach.js')).attachCommand(),
    logs: async () => (await import('./commands/logs.js')).logsCommand(),
    wait: async () => (await import('./commands/wait.js')).waitCommand(),
    ps: async () => (await import('./commands/ps.js')).psCommand(),
    kill: async () => (await import('./commands/kill.js')).killCommand(),
    watch: async () => (await import('./commands/watch.js')).watchCommand(),
    share: async () => (await import('./commands/share.js')).shareCommand(),
    play: async () => (await import('./commands/play.js')).playCommand(),
    changes: async () => (await import('./commands/changes.js')).changesCommand(),
  },
  'Servers and machines:': {
    serve: async () => (await import('./commands/serve.js')).serveCommand(),
    upgrade: async () => (await import('./commands/upgrade.js')).upgradeCommand(),
    console: async () => (await import('./commands/console.js')).consoleCommand(),
    env: async () => (await import('./commands/env.js')).envCommand(),
    doctor: async () => (await import('./doctor/doctor.js')).doctorCommand(),
    token: async () => (await import('./commands/token.js')).tokenCommand(),
    connect: async () => (await import('./commands/connect.js')).connectCommand(),
  },
  'Fleets:': {
    fleet: async () => (await import('./commands/fleet.js')).fleetCommand(),
    job: async () => (await import('./commands/job.js')).jobCommand(),
    gateway: async () => (await import('./commands/gateway.js')).gatewayCommand(),
  },
  'For other programs:': {
    mcp: async () => (await import('./commands/mcp.js')).mcpCommand(),
    'app-server': async () => (await import('./commands/app-server.js')).appServerCommand(),
    conformance: async () => (await import('./commands/conformance.js')).conformanceCommand(),
    completion: async () => (await import('./completion/completion.js')).completionCommand(createProgram),
  },
};

const commands: Readonly<Record<string, Load>> = Object.fromEntries(
  Object.entries(groups).flatMap(([heading, loads]) =>
    Object.entries(loads).map(([name, load]) => [name, async () => (await load()).helpGroup(heading)]),
  ),
);

/** Other names of commands. */
const aliases: Readonly<Record<string, string>> = { exec: 'run' };

/** The whole command line, or only the part needed for a command line that starts with `first`. */
export async function createProgram(first?: string): Promise<Command> {
  const program = new Command('execwire')
    .description('Run processes and access files on any machine, local or remote, with the same guarantees.')
    .version(`${version} (Node.js ${process.version}, ${process.platform} ${process.arch})`)
    .exitOverride()
    .commandsGroup('Help:')
    .showHelpAfterError('(run with --help for details)')
    .configureHelp({ optionDescription: describeOption, groupItems, subcommandTerm: namesOf })
    .hook('preAction', (_program, command) => refuseIdleOptions(command))
    .configureOutput({ outputError: (text, write) => write(withHint(reworded(text))) })
    // Options after the program of `run` belong to that program.
    .enablePositionalOptions();
  for (const load of loadersFor(first)) program.addCommand(await load());
  for (const command of program.commands) inheritSettings(command, program);
  // Commands of commands, such as those of `env`, are no programs to run.
  program.configureOutput({ outputError: (text, write) => write(withCommandHint(withHint(reworded(text)))) });
  return program;
}

function loadersFor(first = ''): Load[] {
  if (first === '-V' || first === '--version') return [];
  const name = Object.hasOwn(aliases, first) ? aliases[first] : first;
  const only = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  return only ? [only] : Object.values(commands);
}

function inheritSettings(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheritSettings(child, command);
}
