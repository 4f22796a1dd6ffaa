import { Command } from 'commander';
import { version } from '../host/machine-info.js';

/** Every command and where it lives. Loading one costs what it imports, so only those needed are loaded. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.js')).serveCommand(),
  'app-server': async () => (await import('./commands/app-server.js')).appServerCommand(),
  mcp: async () => (await import('./commands/mcp.js')).mcpCommand(),
  run: async () => (await import('./commands/run.js')).runCommand(),
  shell: async () => (await import('./commands/shell.js')).shellCommand(),
  ps: async () => (await import('./commands/ps.js')).psCommand(),
  kill: async () => (await import('./commands/kill.js')).killCommand(),
  cp: async () => (await import('./commands/cp.js')).cpCommand(),
  env: async () => (await import('./commands/env.js')).envCommand(),
  connect: async () => (await import('./commands/connect.js')).connectCommand(),
  doctor: async () => (await import('./doctor/doctor.js')).doctorCommand(),
  conformance: async () => (await import('./commands/conformance.js')).conformanceCommand(),
  completion: async () => (await import('./completion/completion.js')).completionCommand(createProgram),
};

/** The whole command line, or the part of it that a command line beginning with `first` needs. */
export async function createProgram(first?: string): Promise<Command> {
  const program = new Command('execwire')
    .description(
      'Run processes and touch files on some machine, with the same calls and guarantees everywhere.',
    )
    .version(version)
    .exitOverride()
    .showHelpAfterError('(run with --help for the whole story)')
    // Options behind the program of `run` are that program's.
    .enablePositionalOptions();
  for (const load of neededFor(first)) program.addCommand(await load());
  for (const command of program.commands) inheritSettings(command, program);
  return program;
}

function neededFor(first = ''): (() => Promise<Command>)[] {
  if (first === '-V' || first === '--version') return [];
  const only = Object.hasOwn(commands, first) ? commands[first] : undefined;
  return only ? [only] : Object.values(commands);
}

function inheritSettings(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheritSettings(child, command);
}
