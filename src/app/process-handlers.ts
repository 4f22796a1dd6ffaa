import { type AppMethods, type AppParsedParams, ExecError } from '../protocol/index.js';
import type { Handlers } from '../rpc/index.js';
import type { CappedOutput } from './capped-output.js';
import { ALWAYS_BYTES } from './captured-output.js';
import { emptyAfter } from './empty-answer.js';
import type { HandlerContext } from './handler-context.js';
import type { Run, RunEnd } from './run.js';
import { RunTable } from './run-table.js';
import {
  absolutePath,
  assertSize,
  DEFAULT_CAP_BYTES,
  DEFAULT_TIMEOUT_MS,
  deltaOutlet,
  startRun,
} from './start-run.js';
import { stdinDelta } from './stdin-delta.js';

type ProcessMethods = Pick<AppMethods, Extract<keyof AppMethods, `process/${string}`>>;
type SpawnParams = AppParsedParams<'process/spawn'>;

/** Reported when it is unknown how a process ended. */
const UNKNOWN_EXIT_CODE = -1;

/** The `process/*` methods of one connection. */
export function processHandlers(context: HandlerContext): Handlers<ProcessMethods> {
  const runs = new RunTable({
    inUse: (handle) => `duplicate active process handle: ${JSON.stringify(handle)}`,
    unknown: (handle) => `no active process for process handle ${JSON.stringify(handle)}`,
  });
  return {
    'process/spawn': async (params) => {
      await spawn(context, runs, params);
      return {};
    },
    'process/writeStdin': (params) => {
      const bytes = stdinDelta('process/writeStdin', params);
      return emptyAfter(runs.get(params.processHandle).write(bytes, params.closeStdin));
    },
    'process/resizePty': ({ processHandle, size }) => {
      assertSize(size, 'process');
      return emptyAfter(runs.get(processHandle).resize(size));
    },
    'process/kill': ({ processHandle }) => emptyAfter(runs.get(processHandle).terminate()),
  };
}

async function spawn(context: HandlerContext, runs: RunTable, params: SpawnParams): Promise<Run> {
  assertConsistent(params);
  const environment = await context.environment(params.environmentId);
  const { processHandle, outputBytesCap, timeoutMs } = params;
  const handleText = JSON.stringify(processHandle);
  const start = (): Promise<Run> =>
    startRun({
      params,
      environment,
      queued: context.queued,
      captured: context.captured,
      cwd: absolutePath(params.cwd),
      sandbox: null,
      // Null switches a limit off; only undefined means the default.
      capBytes: outputBytesCap === undefined ? DEFAULT_CAP_BYTES : outputBytesCap,
      timeoutMs: timeoutMs === undefined ? DEFAULT_TIMEOUT_MS : timeoutMs,
      outlet: deltaOutlet(context, 'process/outputDelta', `"processHandle":${handleText}`),
      noun: 'process',
      wording: {
        notRunning: `process ${handleText} is no longer running`,
        noStdin: 'stdin streaming is not enabled for this process',
      },
    });
  // The handle stays taken until its end is announced, so that the next process is not taken for this one.
  return await runs.add(processHandle, start, (run) => announceEnd(context, processHandle, run));
}

function assertConsistent(params: SpawnParams): void {
  const { command, processHandle, size, tty, timeoutMs } = params;
  if (command.length === 0) throw new ExecError('invalidRequest', 'command must not be empty');
  if (processHandle === '') throw new ExecError('invalidRequest', 'processHandle must not be empty');
  if (size != null && !tty) throw new ExecError('invalidParams', 'process/spawn size requires tty: true');
  assertSize(size, 'process');
  if (timeoutMs != null && timeoutMs < 0) {
    throw new ExecError('invalidParams', `process/spawn timeoutMs must be non-negative, got ${timeoutMs}`);
  }
}

async function announceEnd(context: HandlerContext, processHandle: string, run: Run): Promise<void> {
  const end = await run.ended.catch((): undefined => undefined);
  // Output stays where it was captured until there is room: others may have taken that by the time we are called.
  if (end && isLarge(end)) for (let room = context.room(); room; room = context.room()) await room;
  context.notify('process/exited', {
    processHandle,
    exitCode: end?.exitCode ?? UNKNOWN_EXIT_CODE,
    outputDrainTimedOut: end?.drainTimedOut ?? false,
    ...collected(end),
  });
}

function isLarge({ stdout, stderr }: RunEnd): boolean {
  return stdout.keptBytes + stderr.keptBytes > ALWAYS_BYTES;
}

function collected(end: RunEnd | undefined) {
  const stdout = textOf(end?.stdout);
  const stderr = textOf(end?.stderr);
  return {
    stdout: stdout.text,
    stdoutCapReached: stdout.isCut,
    stderr: stderr.text,
    stderrCapReached: stderr.isCut,
  };
}

function textOf(output: CappedOutput | undefined): { text: string; isCut: boolean } {
  if (!output) return { text: '', isCut: false };
  try {
    return { text: output.text(), isCut: output.capReached || output.tooLarge };
  } catch {
    // It was on a disk that fails. The end is announced all the same.
    return { text: '', isCut: true };
  } finally {
    output.release();
  }
}
