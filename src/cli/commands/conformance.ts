import { Command } from 'commander';
import type { CaseReport, ConformanceTarget } from '../../conformance/index.js';
import { ExecError } from '../../protocol/index.js';
import { dialWebSocket, startProgram } from '../../transport/index.js';
import { formatJson, printable } from '../terminal/table.js';

interface ConformanceFlags {
  readonly url?: string;
  readonly program?: string;
  readonly tokenEnv?: string;
  readonly case?: string;
  readonly json?: boolean;
}

/** `execwire conformance`. */
export function conformanceCommand(): Command {
  return new Command('conformance')
    .summary('check an exec server against the protocol')
    .description(
      'Run named cases against an exec server and print the result of each: ok, differs (it answered differently) or\n' +
        'fails (it did not answer). The cases start harmless programs and write only to a new directory inside the\n' +
        "machine's temporary directory. Exits with 1 unless everything is ok.",
    )
    .option('--url <url>', 'URL of a running server: ws://…, wss://… or unix:///PATH')
    .option('--token-env <name>', 'with --url: the environment variable with its bearer token')
    .option('--program <program>', 'a program that serves on its stdin and stdout; its arguments follow')
    .option('--case <text>', 'only cases whose name contains this')
    .option('--json', 'print one JSON array instead of a table')
    .argument('[args...]', 'arguments for --program; put -- first if they start with a dash')
    .passThroughOptions()
    .action(async (args: string[], flags: ConformanceFlags) => {
      // Loaded here: no other command needs the cases.
      const { runConformance } = await import('../../conformance/index.js');
      const target = { ...targetOf(flags, args), only: flags.case };
      const reports = await runConformance(target, flags.json ? undefined : print);
      if (flags.json) process.stdout.write(formatJson(reports));
      else process.stdout.write(`\n${summary(reports)}\n`);
      if (reports.some(({ outcome }) => outcome !== 'ok')) process.exitCode = 1;
    });
}

function targetOf({ url, program, tokenEnv }: ConformanceFlags, args: string[]): ConformanceTarget {
  if ((url === undefined) === (program === undefined))
    throw new ExecError('invalidConfiguration', 'Use exactly one of --url and --program.');
  if (program !== undefined) return { dial: () => startProgram({ program, args }), reconnects: false };
  if (args.length > 0) throw new ExecError('invalidConfiguration', 'Arguments need --program.');
  const authBearerToken = tokenEnv === undefined ? undefined : process.env[tokenEnv];
  if (tokenEnv !== undefined && authBearerToken === undefined)
    throw new ExecError('invalidConfiguration', 'The variable given with --token-env is not set.');
  return { dial: () => dialWebSocket(url ?? '', { authBearerToken }), reconnects: true };
}

/** The longest outcome, so that the names line up. */
const OUTCOME_WIDTH = 'differs'.length;

function print({ name, says, outcome, seen }: CaseReport): void {
  process.stdout.write(`${outcome.padEnd(OUTCOME_WIDTH)}  ${name}\n`);
  if (seen === undefined) return;
  const indent = ' '.repeat(OUTCOME_WIDTH + 2);
  process.stdout.write(`${indent}expected: ${says}\n${indent}seen:     ${printable(seen)}\n`);
}

function summary(reports: readonly CaseReport[]): string {
  const count = (outcome: CaseReport['outcome']) =>
    reports.filter((report) => report.outcome === outcome).length;
  return `${reports.length} cases: ${count('ok')} ok, ${count('differs')} differ, ${count('fails')} fail`;
}
