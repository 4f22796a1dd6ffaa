import { once } from 'node:events';
import type { Environment, ExecProcess, ProcessEnd } from '../../contract/index.js';
import { fanOut, type Fleet, type Machine, parseSelector } from '../../fleet/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { complain, OUR_FAILURE } from '../exit-codes.js';
import { outcomeText } from '../terminal/outcome-text.js';
import { PrefixedOutput } from '../terminal/prefixed-output.js';
import { printable } from '../terminal/table.js';
import { withFleet } from './fleet-connection.js';

export interface EverywhereFlags {
  readonly on: string;
  readonly maxParallel?: number;
  readonly maxMachines?: number;
  readonly failFast?: boolean;
  readonly dryRun?: boolean;
}

/** How it went on each machine. */
type Outcome = ProcessEnd | { readonly kind: 'failed'; readonly error: Error } | { readonly kind: 'skipped' };

/** Runs a program on all machines that match, and prints their output line by line. Resolves to our exit code. */
export async function runEverywhere(
  flags: EverywhereFlags,
  start: (environment: Environment) => Promise<ExecProcess>,
): Promise<number> {
  try {
    return await runOnMatching(flags, start);
  } catch (error) {
    if (!isExecError(error, 'notConnected')) throw error;
    complain(error);
    return OUR_FAILURE;
  }
}

async function runOnMatching(
  flags: EverywhereFlags,
  start: (environment: Environment) => Promise<ExecProcess>,
): Promise<number> {
  return await withFleet(async (fleet) => {
    const machines = await selectMachines(fleet, flags);
    const names = machines.map(({ name }) => name);
    if (flags.dryRun) {
      process.stdout.write(names.map((name) => `${printable(name)}\n`).join(''));
      return 0;
    }
    const outcomes = await runOnAll(fleet, names, { flags, start });
    process.stderr.write(summaryOf(outcomes));
    return exitCodeOf([...outcomes.values()]);
  });
}

async function selectMachines(fleet: Fleet, { on, maxMachines }: EverywhereFlags): Promise<Machine[]> {
  const selector = parseSelector(on);
  const machines = (await fleet.list(selector)).filter(({ state }) => state === 'ready');
  // Says why there is none.
  if (machines.length === 0) await fleet.choose(selector);
  if (maxMachines !== undefined && machines.length > maxMachines)
    throw new ExecError(
      'invalidConfiguration',
      `"${on.slice(0, 80)}" matches ${machines.length} machines, more than --max-machines ${maxMachines}.`,
    );
  return machines;
}

async function runOnAll(
  fleet: Fleet,
  names: readonly string[],
  { flags, start }: { flags: EverywhereFlags; start: (environment: Environment) => Promise<ExecProcess> },
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const output = new PrefixedOutput(names);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { maxParallel, failFast = false } = flags;
  const events = fanOut(fleet, names, {
    run: start,
    failFast,
    signal: stop.signal,
    clientName: 'execwire-cli',
    ...(maxParallel === undefined ? {} : { maxParallel }),
  });
  for await (const event of events) {
    const { machine } = event;
    if (event.type === 'output') output.write(machine, event.stream, event.bytes);
    else if (event.type === 'gap') output.note(machine, `${event.lostBytes} bytes of output were lost here`);
    else if (event.type === 'ended') outcomes.set(machine, event.end);
    else if (event.type === 'failed') outcomes.set(machine, { kind: 'failed', error: event.error });
    else if (event.type === 'skipped') outcomes.set(machine, { kind: 'skipped' });
    if (event.type === 'ended') output.end(machine);
    if (event.type === 'failed') output.note(machine, event.error.message);
    // A slow reader slows the machines down.
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  }
  return outcomes;
}

function summaryOf(outcomes: ReadonlyMap<string, Outcome>): string {
  const groups = new Map<string, string[]>();
  for (const [name, outcome] of outcomes) {
    const text = outcomeText(outcome);
    groups.set(text, [...(groups.get(text) ?? []), name]);
  }
  const lines = [...groups].map(([text, names]) => {
    const which = text === 'succeeded' ? '' : `: ${names.map(printable).join(', ')}`;
    return `${names.length} of ${outcomes.size} ${text}${which}\n`;
  });
  return lines.join('');
}

/** 0 if all succeeded; the common exit code if all failures agree; else 1. Our own failures outweigh those of programs. */
function exitCodeOf(outcomes: readonly Outcome[]): number {
  if (outcomes.some(({ kind }) => kind === 'failed' || kind === 'contactLost')) return OUR_FAILURE;
  const codes = new Set(outcomes.flatMap((each) => ('exitCode' in each ? [each.exitCode] : [])));
  codes.delete(0);
  return codes.size === 0 ? 0 : codes.size === 1 ? ([...codes][0] ?? 1) : 1;
}
