import { once } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  deniedHosts,
  ConfinedEnvironment,
  type Environment,
  type ExecProcess,
  type ProcessSpec,
} from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import type { NetworkDenial, Sandbox } from '../../protocol/index.js';
import { ConnectionNotice } from '../terminal/connection-notice.js';
import { BROKEN_PIPE, complain, exitCodeOfEnd, exitCodeOfFailure, OUR_FAILURE } from '../exit-codes.js';
import { forwardInput } from '../terminal/forward-input.js';
import { ForwardedSignals } from '../terminal/forward-signals.js';
import { printCost } from '../terminal/cost.js';
import { KeyboardNotice } from '../terminal/keyboard-notice.js';
import { LineEscape } from '../terminal/line-escape.js';
import { NetworkQuestions } from '../terminal/network-questions.js';
import { NoticeLine } from '../terminal/notice-line.js';
import { isReaderGone } from '../terminal/lost-output.js';
import { OutputLost, printOutput } from '../terminal/print-output.js';
import { currentSize, RawTerminal, redrawByResizing } from '../terminal/raw-terminal.js';
import { printable } from '../terminal/table.js';
import { wayBack } from './kept.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

/** How long closing may take. An unreachable machine ends what is left when the session expires. */
const CLOSE_LIMIT_MS = 3_000;

/** The kernel does not report which call it denied, so neither can we. */
const DENIED =
  'The sandbox policy probably denied what the program tried. --writable DIRECTORY and --network allow more.';

const CHANGES_FULL =
  'It was killed because its held changes reached their size limit. They can be listed, applied and discarded.';

function hostsDenied(denials: readonly NetworkDenial[]): string {
  const allow = [...new Set(denials.filter(needsAllowing).map(({ host }) => host))].join(',');
  const hint = allow === '' ? '' : ` To allow: --network allow=${allow}`;
  return printable(`The network policy denied access to ${deniedHosts(denials)}.${hint}`);
}

/** Not if it is denied all the same, nor if the address that a name leads to is the reason. */
function needsAllowing({ host, reason }: NetworkDenial): boolean {
  if (reason === 'not_allowed_local') return isIP(host) !== 0 || /(^|\.)localhost$/.test(host);
  return reason !== 'denied' && reason !== 'other_name';
}

/** What to start, and how it is confined. */
export interface AttachedStart {
  readonly target: TargetFlags;
  readonly spec: (environment: Environment) => ProcessSpec | Promise<ProcessSpec>;
  /** The sandbox; undefined or null for none. */
  readonly sandbox: (environment: Environment, spec: ProcessSpec) => Promise<Sandbox | null | undefined>;
}

/** A process to attach to our streams. */
export interface Begun {
  readonly child: ExecProcess;
  /** Called once our terminal is ready to show it. `shown`: to be called with what our terminal is given. */
  readonly onceRaw?: (shown: (bytes: Uint8Array) => void) => Promise<void>;
  /** Called when output is missing that nobody counts: the screen has to be drawn again. */
  readonly missed?: (shown: (bytes: Uint8Array) => void) => Promise<void>;
  /** Called when it has ended and all of its output is written. */
  readonly atEnd?: () => Promise<void>;
  /** How to type to it, if not simply by writing. */
  readonly write?: ExecProcess['write'];
}

/** A process to run attached to our own streams, terminal and signals. */
export interface AttachedRun {
  readonly target: TargetFlags;
  readonly begin: (environment: Environment) => Promise<Begun>;
  /** Forward our stdin. */
  readonly stdin: boolean;
  /** Whether typing Enter, ~ and . disconnects. Only with a terminal. */
  readonly escape: boolean;
  /** It continues when we leave. */
  readonly outlivesUs?: boolean;
  /** Print what it cost. */
  readonly stat?: boolean;
  /** What the user may have meant, if it cannot be started. */
  readonly hint?: (error: unknown) => Promise<string | undefined>;
  /** Ask at our terminal about hosts that its rules do not know. */
  readonly asks?: boolean;
}

/** Runs a process as if it were local. Resolves to our exit code. */
export async function runAttached(run: AttachedRun): Promise<number> {
  const signals = new ForwardedSignals();
  const questions = run.asks ? new NetworkQuestions() : undefined;
  let environment: Environment | undefined;
  try {
    let starting: Promise<Begun> | undefined;
    environment = await openTarget(run.target, {
      onNetworkRequest: questions?.ask,
      onOpening: (opening) => {
        starting = run.begin(opening);
        // If connecting fails, that is what went wrong.
        starting.catch(() => undefined);
      },
    });
    const begun = await (starting ?? run.begin(environment));
    const leaving = new AbortController();
    signals.passTo(begun.child, run.outlivesUs ? () => leaving.abort() : undefined);
    return signals.leaveWith(await attach(environment, begun, { ...run, leaving, questions }));
  } catch (error) {
    complain(error);
    const hint = await run.hint?.(error);
    if (hint !== undefined) complain(new Error(hint));
    return signals.leaveWith(exitCodeOfFailure(error));
  } finally {
    if (environment) await Promise.race([closeTarget(environment), delay(CLOSE_LIMIT_MS)]);
  }
}

/** Starts a process with the size and type of our terminal. */
export async function startAttached(environment: Environment, run: AttachedStart): Promise<Begun> {
  const spec = onOurTerminal(await run.spec(environment));
  const sandbox = await run.sandbox(environment, spec);
  const machine = sandbox ? new ConfinedEnvironment(environment, sandbox) : environment;
  const child = await start(machine, spec);
  return {
    child,
    ...(child.changesId === undefined
      ? {}
      : { atEnd: () => summarize(environment, child, { isNew: !sandbox?.changesId, target: run.target }) }),
  };
}

async function summarize(
  environment: Environment,
  { changesId = '' }: ExecProcess,
  how: { isNew: boolean; target: TargetFlags },
): Promise<void> {
  const { summarizeChanges } = await import('./changes-summary.js');
  await summarizeChanges(environment, { changesId, ...how });
}

/** Gives the remote terminal the size and type of ours. */
function onOurTerminal(spec: ProcessSpec): ProcessSpec {
  if (!spec.tty) return spec;
  const { TERM } = process.env;
  return { ...spec, size: currentSize(), env: { ...(TERM === undefined ? {} : { TERM }), ...spec.env } };
}

/** Other servers support only 24 rows and 80 columns; better than no terminal. */
async function start(environment: Environment, spec: ProcessSpec): Promise<ExecProcess> {
  try {
    return await environment.start(spec);
  } catch (error) {
    if (!spec.size || !isExecError(error, 'unsupported')) throw error;
    const { size: _, ...rest } = spec;
    return await environment.start(rest);
  }
}

async function attach(
  environment: Environment,
  { child, onceRaw, missed, write, atEnd }: Begun,
  run: AttachedRun & { readonly leaving: AbortController; readonly questions: NetworkQuestions | undefined },
): Promise<number> {
  const { leaving, questions, outlivesUs = false } = run;
  const began = performance.now();
  using terminal = child.tty ? new RawTerminal(child) : undefined;
  const isShown = child.tty && process.stdout.isTTY;
  const shown = (bytes: Uint8Array): void => line?.beforeOutput(bytes);
  const redraw = missed ? () => missed(shown) : () => redrawByResizing(child);
  const line = isShown ? new NoticeLine(redraw) : undefined;
  using _notice = line && new ConnectionNotice(environment, line);
  using keyboard = line && new KeyboardNotice(child, line);
  await onceRaw?.(shown);
  const isTyped = run.stdin && process.stdin.isTTY;
  if (isTyped) questions?.use({ line });
  using _input = run.stdin
    ? forwardInput(child, {
        write,
        take: isTyped && questions ? (input) => questions.take(input) : undefined,
        escape:
          run.escape && process.stdin.isTTY && child.tty
            ? new LineEscape({ mayGive: () => keyboard?.isAsked === true })
            : undefined,
        give: () => keyboard?.give() ?? Promise.resolve(),
        leave: () => leaving.abort(),
        leaveAtEnd: outlivesUs && process.stdin.isTTY,
      })
    : undefined;
  // Leaving must not depend on the remote side: it may be unreachable, which may be why the user leaves.
  const outcome = await Promise.race([
    printOutput(child, {
      beforeOutput: (bytes) => {
        keyboard?.beforeOutput();
        shown(bytes);
      },
      missed: missed && redraw,
    }).catch(outputFailure),
    left(leaving.signal),
  ]);
  if (outcome instanceof OutputLost) return isReaderGone(outcome.cause) ? BROKEN_PIPE : OUR_FAILURE;
  if (outcome === 'left') {
    terminal?.reset();
    if (!outlivesUs) return OUR_FAILURE;
    const back = wayBack(child.processId, run.target);
    process.stderr.write(
      `execwire: ${printable(child.processId)} keeps running; come back with: ${printable(back)}\n`,
    );
    return 0;
  }
  const end = await child.wait();
  if (run.stat) printCost(outcome?.usage, performance.now() - began);
  if (outcome?.changesFull) complain(new Error(CHANGES_FULL));
  else if (outcome?.networkDenied) complain(new Error(hostsDenied(outcome.networkDenied)));
  else if (outcome?.sandboxDenied) complain(new Error(DENIED));
  if (end.kind !== 'contactLost') {
    terminal?.reset();
    await atEnd?.();
    return exitCodeOfEnd(end);
  }
  terminal?.reset();
  complain(new Error(`Environment "${environment.id}": ${end.error.message}`));
  return OUR_FAILURE;
}

async function left(leaving: AbortSignal): Promise<'left'> {
  if (!leaving.aborted) await once(leaving, 'abort');
  return 'left';
}

/** `wait` reports that contact with the process was lost. */
function outputFailure(error: unknown): OutputLost | undefined {
  if (error instanceof OutputLost) return error;
  if (!isExecError(error)) throw error;
  return undefined;
}
