import { Command } from 'commander';
import { describeOption } from './habits/option-help.js';
import { version } from '../host/machine-info.js';
import { withCommandHint, withHint } from './habits/hints.js';
import { refuseIdleOptions } from './options/required-options.js';

/** Every command and its module. Imports are slow, so only the commands needed are loaded. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.js')).serveCommand(),
  console: async () => (await import('./commands/console.js')).consoleCommand(),
  upgrade: async () => (await import('./commands/upgrade.js')).upgradeCommand(),
  'app-server': async () => (await import('./commands/app-server.js')).appServerCommand(),
  mcp: async () => (await import('./commands/mcp.js')).mcpCommand(),
  run: async () => (await import('./commands/run.js')).runCommand(),
  shell: async () => (await import('./commands/shell.js')).shellCommand(),
  attach: async () => (await import('./commands/attach.js')).attachCommand(),
  watch: async () => (await import('./commands/watch.js')).watchCommand(),
  share: async () => (await import('./commands/share.js')).shareCommand(),
  logs: async () => (await import('./commands/logs.js')).logsCommand(),
  play: async () => (await import('./commands/play.js')).playCommand(),
  wait: async () => (await import('./commands/wait.js')).waitCommand(),
  ps: async () => (await import('./commands/ps.js')).psCommand(),
  kill: async () => (await import('./commands/kill.js')).killCommand(),
  ports: async () => (await import('./commands/ports.js')).portsCommand(),
  forward: async () => (await import('./commands/forward.js')).forwardCommand(),
  changes: async () => (await import('./commands/changes.js')).changesCommand(),
  cp: async () => (await import('./commands/cp.js')).cpCommand(),
  env: async () => (await import('./commands/env.js')).envCommand(),
  fleet: async () => (await import('./commands/fleet.js')).fleetCommand(),
  job: async () => (await import('./commands/job.js')).jobCommand(),
  gateway: async () => (await import('./commands/gateway.js')).gatewayCommand(),
  connect: async () => (await import('./commands/connect.js')).connectCommand(),
  token: async () => (await import('./commands/token.js')).tokenCommand(),
  doctor: async () => (await import('./doctor/doctor.js')).doctorCommand(),
  conformance: async () => (await import('./commands/conformance.js')).conformanceCommand(),
  completion: async () => (await import('./completion/completion.js')).completionCommand(createProgram),
};

/** Other names of commands. */
const aliases: Readonly<Record<string, string>> = { exec: 'run' };

/** The whole command line, or only the part needed for a command line that starts with `first`. */
export async function createProgram(first?: string): Promise<Command> {
  const program = new Command('execwire')
    .description('Run processes and access files on any machine, local or remote, with the same guarantees.')
    .version(`${version} (Node.js ${process.version}, ${process.platform} ${process.arch})`)
    .exitOverride()
    .showHelpAfterError('(run with --help for details)')
    .configureHelp({ optionDescription: describeOption })
    .hook('preAction', (_program, command) => refuseIdleOptions(command))
    .configureOutput({ outputError: (text, write) => write(withHint(text)) })
    // Options after the program of `run` belong to that program.
    .enablePositionalOptions();
  for (const load of loadersFor(first)) program.addCommand(await load());
  for (const command of program.commands) inheritSettings(command, program);
  // Commands of commands, such as those of `env`, are no programs to run.
  program.configureOutput({ outputError: (text, write) => write(withCommandHint(withHint(text))) });
  return program;
}

function loadersFor(first = ''): (() => Promise<Command>)[] {
  if (first === '-V' || first === '--version') return [];
  const name = Object.hasOwn(aliases, first) ? aliases[first] : first;
  const only = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  return only ? [only] : Object.values(commands);
}

function inheritSettings(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheritSettings(child, command);
}
