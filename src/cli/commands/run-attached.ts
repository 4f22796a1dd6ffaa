import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ConfinedEnvironment,
  type Environment,
  type ExecProcess,
  type ProcessSpec,
} from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import type { Sandbox } from '../../protocol/index.js';
import { ConnectionNotice } from '../terminal/connection-notice.js';
import { BROKEN_PIPE, complain, exitCodeOfEnd, exitCodeOfFailure, OUR_FAILURE } from '../exit-codes.js';
import { forwardInput } from '../terminal/forward-input.js';
import { ForwardedSignals } from '../terminal/forward-signals.js';
import { LineEscape } from '../terminal/line-escape.js';
import { OutputClosed, printOutput } from '../terminal/print-output.js';
import { currentSize, RawTerminal } from '../terminal/raw-terminal.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

/** How long saying goodbye may take; a machine out of reach ends what is left with the session's lease. */
const FAREWELL_LIMIT_MS = 3_000;

/** The kernel does not say which call it refused, so neither can we. */
const DENIED =
  'The sandbox policy probably denied what the program tried. --writable DIRECTORY and --network allow more.';

/** A process to run with our own streams, terminal and signals tied to it. */
export interface AttachedRun {
  readonly target: TargetFlags;
  readonly spec: (environment: Environment) => ProcessSpec | Promise<ProcessSpec>;
  /** What confines it; undefined or null for nothing. */
  readonly sandbox: (environment: Environment, spec: ProcessSpec) => Promise<Sandbox | null | undefined>;
  /** Pass on our stdin. */
  readonly stdin: boolean;
  /** Whether Enter, ~ and . leaves. Only where keys are typed. */
  readonly escape: boolean;
}

/** Runs a process as if it were ours. Resolves to our exit code. */
export async function runAttached(run: AttachedRun): Promise<number> {
  const signals = new ForwardedSignals();
  let environment: Environment | undefined;
  try {
    environment = await openTarget(run.target);
    const spec = onOurTerminal(await run.spec(environment));
    const sandbox = await run.sandbox(environment, spec);
    const child = await start(sandbox ? new ConfinedEnvironment(environment, sandbox) : environment, spec);
    signals.passTo(child);
    return signals.leaveWith(await attach(environment, child, run));
  } catch (error) {
    complain(error);
    return signals.leaveWith(exitCodeOfFailure(error));
  } finally {
    if (environment) await Promise.race([closeTarget(environment), delay(FAREWELL_LIMIT_MS)]);
  }
}

/** A terminal there is like the one here: same size, same kind. */
function onOurTerminal(spec: ProcessSpec): ProcessSpec {
  if (!spec.tty) return spec;
  const { TERM } = process.env;
  return { ...spec, size: currentSize(), env: { ...(TERM === undefined ? {} : { TERM }), ...spec.env } };
}

/** Servers of others only have terminals of 24 rows and 80 columns; better that than none. */
async function start(environment: Environment, spec: ProcessSpec): Promise<ExecProcess> {
  try {
    return await environment.start(spec);
  } catch (error) {
    if (!spec.size || !isExecError(error, 'unsupported')) throw error;
    const { size: _, ...rest } = spec;
    return await environment.start(rest);
  }
}

async function attach(environment: Environment, child: ExecProcess, run: AttachedRun): Promise<number> {
  using terminal = child.tty ? new RawTerminal(child) : undefined;
  using notice = child.tty && process.stdout.isTTY ? new ConnectionNotice(environment, child) : undefined;
  const leaving = new AbortController();
  using _input = run.stdin
    ? forwardInput(child, {
        escape: run.escape && process.stdin.isTTY ? new LineEscape() : undefined,
        leave: () => leaving.abort(),
      })
    : undefined;
  // Leaving needs no help from the other side: it may be out of reach, and that the reason to leave.
  const outcome = await Promise.race([
    printOutput(child, { beforeOutput: (bytes) => notice?.beforeOutput(bytes) }).catch(outputFailure),
    once(leaving.signal, 'abort').then(() => 'left' as const),
  ]);
  if (outcome === 'outputClosed') return BROKEN_PIPE;
  if (outcome === 'left') {
    terminal?.reset();
    return OUR_FAILURE;
  }
  const end = await child.wait();
  if (outcome?.sandboxDenied) complain(new Error(DENIED));
  if (end.kind !== 'contactLost') return exitCodeOfEnd(end);
  terminal?.reset();
  complain(new Error(`Environment "${environment.id}": ${end.error.message}`));
  return OUR_FAILURE;
}

/** A process out of reach says so itself, in `wait`. */
function outputFailure(error: unknown): 'outputClosed' | undefined {
  if (error instanceof OutputClosed) return 'outputClosed';
  if (!isExecError(error)) throw error;
  return undefined;
}
