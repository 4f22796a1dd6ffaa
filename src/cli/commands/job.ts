import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT_CODE_HELP } from '../exit-codes.js';
import { wholeNumber } from '../options/listen-options.js';
import { collectVariable, parseDuration } from '../options/option-values.js';
import type { SubmitFlags } from './job-submit.js';

/** `execwire job`: programs that the fleet runs when a machine is free. */
export function jobCommand(): Command {
  const job = new Command('job')
    // Options after the program of `submit` belong to that program.
    .enablePositionalOptions()
    .summary('queue programs for whichever machine of a fleet is free')
    .description(
      'Jobs wait in the fleet until a matching machine takes them, and keep running without you. Machines take jobs if started with `execwire serve --fleet … --job-slots N`.\n\n' +
        'Which fleet: EXECWIRE_FLEET, or fleet.toml in the configuration directory.',
    );
  addSubmit(job);
  addLooking(job);
  addChanging(job);
  return job;
}

function addSubmit(job: Command): void {
  job
    .command('submit')
    .description('queue a program, and print the id of the job')
    .usage('--on SELECTOR [options] -- PROGRAM [ARGUMENTS...]')
    .argument(
      '<command...>',
      'program and arguments; no shell is involved. All machines of the fleet can read them',
    )
    .requiredOption('--on <selector>', 'the machines that may run it, such as pool=ci,gpu')
    .option('--name <text>', 'a name for people')
    .option(
      '--retries <n>',
      'run it again elsewhere, up to this many times, if its machine is lost',
      wholeNumber,
      0,
    )
    .addOption(
      new Option('--retry-on <what>', 'with --retries: if its machine is lost, or also if the program fails')
        .choices(['lost', 'failure'])
        .default('lost'),
    )
    .option('--priority <n>', 'jobs with a higher number are taken first', wholeNumberOrLess, 0)
    .option(
      '--deadline <time>',
      'kill it if it has not ended this long from now: 30s, 10m, 2h',
      parseDuration,
    )
    .option('--limit <name=n>', 'at most n of the jobs that name this limit run at once', parseLimit)
    .option('--env <name=value>', 'set a variable; NAME alone copies its local value', collectVariable, {})
    .option('-w, --cwd <directory>', 'working directory on that machine (default: home)')
    .passThroughOptions()
    .action(async (argv: string[], flags: SubmitFlags) =>
      (await import('./job-submit.js')).submitJob(argv, flags),
    );
}

function addLooking(job: Command): void {
  job
    .command('ls')
    .description('list your jobs')
    .option('--all', 'everybody’s jobs, which administrators may see')
    .option('--json', 'print JSON')
    .action(async (flags: { all?: boolean; json?: boolean }) =>
      (await import('./job-list.js')).listJobs(flags),
    );
  job
    .command('info')
    .description('describe a job, and say what it is waiting for')
    .argument('<id>', 'of the job, or its beginning')
    .option('--json', 'print JSON')
    .action(async (id: string, flags: { json?: boolean }) =>
      (await import('./job-list.js')).describeJob(id, flags),
    );
  job
    .command('logs')
    .description('print the output of a job, even if its machine is gone')
    .argument('<id>', 'of the job, or its beginning')
    .option('-f, --follow', 'until it has ended')
    .option('--attempt <n>', 'of this attempt (default: the last one)', wholeNumber)
    .action(async (id: string, flags: { follow?: boolean; attempt?: number }) =>
      (await import('./job-logs.js')).printJob(id, flags),
    );
  job
    .command('wait')
    .description('wait for jobs; the exit code is that of the last one that failed')
    .argument('<id...>', 'of jobs, or their beginnings')
    .addHelpText('after', EXIT_CODE_HELP)
    .action(async (ids: string[]) => (await import('./job-logs.js')).waitForJobs(ids));
}

function addChanging(job: Command): void {
  job
    .command('cancel')
    .description('end jobs, and everything they have started')
    .argument('<id...>', 'of jobs, or their beginnings')
    .action(async (ids: string[]) => (await import('./job-change.js')).cancelJobs(ids));
  job
    .command('retry')
    .description('queue ended jobs again')
    .argument('<id...>', 'of jobs, or their beginnings')
    .action(async (ids: string[]) => (await import('./job-change.js')).retryJobs(ids));
}

function wholeNumberOrLess(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError('Use a whole number.');
  return Number(text);
}

function parseLimit(text: string): { name: string; count: number } {
  const [, name, count] = /^([A-Za-z0-9_-]{1,64})=([1-9]\d{0,5})$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Use NAME=N, such as --limit database=2.');
  return { name, count: Number(count) };
}
