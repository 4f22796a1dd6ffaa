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
    .summary('examine an exec server')
    .description(
      'Run named cases against an exec server and print how it does: ok, differs (it answered otherwise) or\n' +
        'fails (it did not answer). It starts harmless programs, and writes only below a directory it makes in the\n' +
        'temporary directory of the machine. Exits with 1 unless everything is ok.',
    )
    .option('--url <url>', 'a server that listens: ws://…, wss://… or unix:///PATH')
    .option('--token-env <name>', 'the variable that holds the bearer token for --url')
    .option('--program <program>', 'a program that is a server on its standard streams; its arguments follow')
    .option('--case <text>', 'only cases whose name contains this')
    .option('--json', 'print one JSON array instead of a table')
    .argument('[args...]', 'arguments of --program; put -- before them when the first begins with a dash')
    .passThroughOptions()
    .action(async (args: string[], flags: ConformanceFlags) => {
      // Loaded here because no other command needs the cases.
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
    throw new ExecError('invalidConfiguration', 'Name exactly one of --url and --program.');
  if (program !== undefined) return { dial: () => startProgram({ program, args }), reconnects: false };
  if (args.length > 0) throw new ExecError('invalidConfiguration', 'Arguments belong to --program.');
  const authBearerToken = tokenEnv === undefined ? undefined : process.env[tokenEnv];
  if (tokenEnv !== undefined && authBearerToken === undefined)
    throw new ExecError('invalidConfiguration', 'The variable of --token-env is not set.');
  return { dial: () => dialWebSocket(url ?? '', { authBearerToken }), reconnects: true };
}

/** Longest of the three outcomes, so that the names line up. */
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
