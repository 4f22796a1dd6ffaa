import { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import { EXIT_CODE_HELP } from '../exit-codes.js';
import { asUser, refuseUserInSandbox } from '../habits/as-user.js';
import { onMachine, splitMachine } from '../habits/machine-argument.js';
import { startHint } from '../habits/start-hints.js';
import { directoryFor } from '../options/directory-option.js';
import { wholeNumber } from '../options/listen-options.js';
import { type LimitFlags, limitsFrom, withLimits } from '../options/limit-options.js';
import { collectVariable, parseDuration, parseLease } from '../options/option-values.js';
import { asksAboutHosts, type SandboxFlags, sandboxFrom, withSandbox } from '../options/sandbox-options.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';
import type { AttachedStart } from './run-attached.js';

interface RunFlags extends TargetFlags, SandboxFlags, LimitFlags {
  readonly tty?: boolean;
  readonly stdin: boolean;
  readonly timeout?: number;
  readonly env: Record<string, string>;
  readonly cwd?: string;
  readonly user?: string;
  readonly stat?: boolean;
  readonly detach?: boolean;
  readonly lease?: number | 'kept';
  readonly keepStdin?: boolean;
  readonly on?: string;
  readonly all?: boolean;
  readonly maxParallel?: number;
  readonly maxMachines?: number;
  readonly failFast?: boolean;
  readonly dryRun?: boolean;
}

/** `execwire run`: runs a program on any machine as if it were local. */
export function runCommand(): Command {
  const command = new Command('run')
    .alias('exec')
    .summary('run a program on any machine as if it were local')
    .description(
      'Run a program on a machine, with stdin, stdout, stderr and exit code as if it were local.\n\n' +
        'Ctrl-C and other signals are forwarded; a second Ctrl-C within a second kills. ' +
        'Everything the program started ends with it. ' +
        'With -t on a terminal, type Enter, ~ and . to leave if nothing else helps.',
    )
    .usage('[options] [MACHINE --] PROGRAM [ARGUMENTS...]')
    .argument('<command...>', 'program and arguments; no shell is involved')
    .option('-t, --tty', 'run on a terminal, for interactive programs')
    .option('-i', 'forward stdin, which is the default; -it is the same as -t')
    .option('--no-stdin', 'do not forward stdin; the program sees empty input')
    .option('--timeout <time>', 'kill after this time: 500ms, 30s, 2m', parseDuration)
    .option('--env <name=value>', 'set a variable; NAME alone copies its local value', collectVariable, {})
    .option('-w, --cwd <directory>', 'working directory on that machine (default: home; here: this one)')
    .option('-u, --user <name>', 'run as this user; needs a server that runs as root')
    .option('--stat', 'print what the program cost, on stderr');
  withTarget(command)
    .optionsGroup('Leaving it running:')
    .option('--detach', 'print an id and return; the program keeps running, see `execwire attach`')
    .option(
      '--lease <time>',
      'with --detach: end it this long after its last client has left; `kept` means never',
      parseLease,
    )
    .option('--keep-stdin', 'with --detach: leave its stdin open for whoever attaches');
  return withLimits(withSandbox(command))
    .optionsGroup('Fleet:')
    .option('--on <selector>', 'run it on a machine of the fleet that matches, such as pool=ci,gpu')
    .option('--all', 'with --on: on all machines that match, at the same time')
    .option('--max-parallel <n>', 'with --all: on this many machines at a time (default: 64)', wholeNumber)
    .option('--max-machines <n>', 'with --all: refuse to run on more machines than this', wholeNumber)
    .option('--fail-fast', 'with --all: end it everywhere once it has failed on one machine')
    .option('--dry-run', 'with --all: only print the machines')
    .addHelpText('after', EXIT_CODE_HELP)
    .passThroughOptions()
    .action(run);
}

async function run(words: string[], given: RunFlags, command: Command): Promise<void> {
  const isLiteral = command.parent?.args.at(-words.length - 1) === '--';
  const { machine, argv } = await splitMachine(words, { isLiteral, flags: given });
  const flags = inFleet(onMachine(machine, given));
  const { tty = false, stdin, timeout, env, cwd, user, detach = false, keepStdin = false } = flags;
  refuseUserInSandbox(flags);
  const limits = limitsFrom(flags);
  const what: AttachedStart = {
    target: flags,
    spec: async (environment) => {
      const where = await directoryFor(flags, environment);
      return {
        argv: asUser(user, argv, { hasDirectory: cwd !== undefined }),
        env,
        tty,
        pipeStdin: detach ? keepStdin : stdin && flags.all !== true,
        ...where,
        ...(flags.stat ? { reportUsage: true } : {}),
        ...(timeout === undefined ? {} : { timeoutMs: timeout }),
        ...(limits ? { limits } : {}),
      };
    },
    sandbox: (environment, { cwd }) => sandboxFrom(flags, environment, { cwd }),
  };
  if (flags.all && flags.on !== undefined) {
    const { runEverywhere } = await import('./run-everywhere.js');
    const { startAttached } = await import('./run-attached.js');
    const everywhere = { ...flags, on: flags.on };
    process.exit(await runEverywhere(everywhere, async (each) => (await startAttached(each, what)).child));
  }
  if (detach) return await (await import('./run-detached.js')).runDetached(flags, what, flags.lease);
  const { runAttached, startAttached } = await import('./run-attached.js');
  const exitCode = await runAttached({
    target: flags,
    begin: (environment) => startAttached(environment, what),
    stdin,
    escape: tty,
    stat: flags.stat === true,
    hint: (error) => startHint(error, argv),
    asks: asksAboutHosts(flags),
  });
  // All output has been written; only an open stdin would keep us running.
  process.exit(exitCode);
}

/** A selector stands for an environment; with --all for several. */
function inFleet(flags: RunFlags): RunFlags {
  const { on, all, environment } = flags;
  if (on === undefined) return flags;
  if (environment !== undefined)
    throw new ExecError('invalidConfiguration', '--on and -e cannot be used together.');
  if (all && (flags.tty || flags.detach))
    throw new ExecError('invalidConfiguration', '--all cannot be used with --tty or --detach.');
  return all ? flags : { ...flags, environment: `fleet:?${on}` };
}
