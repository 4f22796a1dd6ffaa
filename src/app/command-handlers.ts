import { withFixedTemporary } from '../contract/index.js';
import {
  type AppMethods,
  type AppParsedParams,
  type AppResult,
  ExecError,
  type Sandbox,
} from '../protocol/index.js';
import { DeferredAnswer, type Handlers, LargeAnswer } from '../rpc/index.js';
import { ALWAYS_BYTES } from './captured-output.js';
import { ChangesNews } from './changes-handlers.js';
import { emptyAfter } from './empty-answer.js';
import type { HandlerContext } from './handler-context.js';
import type { Run, RunEnd } from './run.js';
import { RunTable } from './run-table.js';
import {
  assertSize,
  DEFAULT_CAP_BYTES,
  DEFAULT_TIMEOUT_MS,
  deltaOutlet,
  resolveCwd,
  startRun,
} from './start-run.js';
import { stdinDelta } from './stdin-delta.js';

type CommandMethods = Pick<AppMethods, Extract<keyof AppMethods, `command/${string}`>>;
type ExecParams = AppParsedParams<'command/exec'>;
type ExecResult = AppResult<'command/exec'>;

/** The commands of one connection, and notifications about their changes. */
interface Commands {
  readonly runs: RunTable;
  readonly news: ChangesNews;
}

/** The `command/*` methods of one connection. */
export function commandHandlers(context: HandlerContext): Handlers<CommandMethods> {
  const runs = new RunTable({
    inUse: (id) => `duplicate active command/exec process id: ${JSON.stringify(id)}`,
    unknown: (id) => `no active command/exec for process id ${JSON.stringify(id)}`,
  });
  const news = new ChangesNews(context);
  return {
    'command/exec': async (params) => {
      const run = await execute(context, { runs, news }, params);
      // The program has started: later requests for it must not wait for its end.
      return new DeferredAnswer(run.ended.then(execAnswer));
    },
    'command/exec/write': (params) => {
      const bytes = stdinDelta('command/exec/write', params);
      return emptyAfter(runs.get(params.processId).write(bytes, params.closeStdin));
    },
    'command/exec/resize': ({ processId, size }) => {
      assertSize(size, 'command/exec');
      return emptyAfter(runs.get(processId).resize(size));
    },
    'command/exec/terminate': ({ processId }) => emptyAfter(runs.get(processId).terminate()),
  };
}

async function execute(context: HandlerContext, { runs, news }: Commands, params: ExecParams): Promise<Run> {
  assertConsistent(params);
  const environment = await context.environment(params.environmentId);
  const cwd = await resolveCwd(environment, params.cwd);
  const { sandboxPolicy, permissionProfile } = params;
  const { cwd: workspace = null, temporaryDirectories } = await environment.info();
  const chosen = context.chooseSandbox({
    policy: sandboxPolicy ?? null,
    profile: permissionProfile ?? null,
    cwd,
    workspace,
  });
  const bringsTemporary = params.env?.['TMPDIR'] != null;
  const policy = chosen && bringsTemporary ? withFixedTemporary(chosen, temporaryDirectories) : chosen;
  const sandbox = withHolding(policy, params);
  if (sandbox?.changes) news.watch(environment, params.environmentId);
  assertSize(params.size, 'command/exec');
  const processId = params.processId ?? undefined;
  if (processId === undefined && (params.tty || params.streamStdin || params.streamStdoutStderr)) {
    throw invalidRequest('command/exec tty or streaming requires a client-supplied processId');
  }
  const idText = JSON.stringify(processId ?? '');
  const run = await runs.add(processId, () =>
    startRun({
      params,
      environment,
      queued: context.queued,
      captured: context.captured,
      cwd,
      sandbox,
      capBytes: params.disableOutputCap ? null : (params.outputBytesCap ?? DEFAULT_CAP_BYTES),
      timeoutMs: params.disableTimeout ? null : (params.timeoutMs ?? DEFAULT_TIMEOUT_MS),
      outlet: deltaOutlet(context, 'command/exec/outputDelta', `"processId":${idText}`),
      noun: 'command',
      wording: {
        notRunning: `command/exec ${idText} is no longer running`,
        noStdin: 'stdin streaming is not enabled for this command/exec',
      },
    }),
  );
  if (sandbox && run.changesId !== undefined) context.held.note(environment, run.changesId, sandbox);
  return run;
}

/** Holding changes takes a policy that says where a command may write. */
function withHolding(sandbox: Sandbox | null, params: ExecParams): Sandbox | null {
  const { changes, changesId, changesLease } = params;
  if (changes == null) return sandbox;
  if (sandbox === null) throw invalidParams('command/exec changes requires a sandbox policy');
  return {
    ...sandbox,
    changes,
    ...(changesId == null ? {} : { changesId }),
    ...(changesLease == null ? {} : { changesLease }),
  };
}

/** Checks the request itself, in the same order as Codex. */
function assertConsistent(params: ExecParams): void {
  const { outputBytesCap, timeoutMs } = params;
  if (params.command.length === 0) throw invalidRequest('command must not be empty');
  if (params.permissionProfile != null && params.sandboxPolicy != null) {
    throw invalidRequest('`permissionProfile` cannot be combined with `sandboxPolicy`');
  }
  if (params.size != null && !params.tty) throw invalidParams('command/exec size requires tty: true');
  if (outputBytesCap != null && params.disableOutputCap) {
    throw invalidParams('command/exec cannot set both outputBytesCap and disableOutputCap');
  }
  if (timeoutMs != null && params.disableTimeout) {
    throw invalidParams('command/exec cannot set both timeoutMs and disableTimeout');
  }
  if (params.changes == null && (params.changesId != null || params.changesLease != null)) {
    throw invalidParams('command/exec changesId and changesLease require changes');
  }
  if (timeoutMs != null && timeoutMs < 0) {
    throw invalidParams(`command/exec timeoutMs must be non-negative, got ${timeoutMs}`);
  }
}

/** Output stays where it was captured until earlier answers have been read. */
function execAnswer(end: RunEnd): ExecResult | LargeAnswer<ExecResult> {
  const { stdout, stderr } = end;
  const bytes = stdout.keptBytes + stderr.keptBytes;
  const isSmall = bytes <= ALWAYS_BYTES || stdout.tooLarge || stderr.tooLarge;
  return isSmall ? execResult(end) : new LargeAnswer(() => execResult(end), { bytes });
}

function execResult({ exitCode, stdout, stderr, changesId, changesFull }: RunEnd): ExecResult {
  try {
    // The result has no field to report missing output.
    if (stdout.tooLarge || stderr.tooLarge) throw outputTooLarge();
    const held = changesId === undefined ? {} : { changesId, ...(changesFull ? { changesFull } : {}) };
    return { exitCode, stdout: stdout.text(), stderr: stderr.text(), ...held };
  } finally {
    stdout.release();
    stderr.release();
  }
}

function outputTooLarge(): ExecError {
  const message = 'The output is too large for one answer, or to be kept until it is read';
  return new ExecError('outputTooLarge', `${message}; stream it, set a cap or read earlier answers.`);
}

function invalidRequest(message: string): ExecError {
  return new ExecError('invalidRequest', message);
}

function invalidParams(message: string): ExecError {
  return new ExecError('invalidParams', message);
}
