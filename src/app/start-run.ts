import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment, ExecProcess, ProcessSpec, TerminalSize } from '../contract/index.js';
import { encodeBase64, ExecError, isExecError } from '../protocol/index.js';
import type { HandlerContext } from './handler-context.js';
import { Run, type RunOptions, type RunOutlet } from './run.js';

/** Default output cap per stream, as in Codex. */
export const DEFAULT_CAP_BYTES = 1024 * 1024;
/** Default timeout, as in Codex. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/** Set for every `command/exec`, whatever the request says; Codex clients rely on it. */
const COMMAND_VARIABLES = { CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS: '1' };

/** The parameters that `command/exec` and `process/spawn` share. */
interface ProgramParams {
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly streamStdin: boolean;
  readonly streamStdoutStderr: boolean;
  readonly env?: Readonly<Record<string, string | null>> | null | undefined;
  readonly size?: TerminalSize | null | undefined;
}

export interface RunRequest
  extends Pick<RunOptions, 'capBytes' | 'timeoutMs' | 'wording' | 'queued' | 'captured'> {
  readonly params: ProgramParams;
  readonly environment: Environment;
  readonly cwd: string | undefined;
  readonly sandbox: ProcessSpec['sandbox'];
  readonly outlet: RunOutlet;
  /** `command` or `process`, for the error message of a failed start. */
  readonly noun: string;
}

/** Starts a program and the run that supervises it. */
export async function startRun(request: RunRequest): Promise<Run> {
  const { params, capBytes, timeoutMs, wording, outlet, queued, captured } = request;
  const process = await startProcess(request);
  return new Run({
    process,
    acceptsInput: params.tty || params.streamStdin,
    queued,
    captured,
    outlet: params.tty || params.streamStdoutStderr ? outlet : null,
    capBytes,
    timeoutMs,
    wording,
  });
}

async function startProcess(request: RunRequest): Promise<ExecProcess> {
  const { params, environment, cwd, sandbox, noun } = request;
  const { command, tty, streamStdin, env, size } = params;
  const spec: ProcessSpec = {
    argv: command,
    tty,
    pipeStdin: streamStdin,
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...env, ...(noun === 'command' ? COMMAND_VARIABLES : {}) },
    ...(size == null ? {} : { size }),
    ...(sandbox == null ? {} : { sandbox }),
  };
  try {
    return await environment.start(spec);
  } catch (error) {
    if (!isExecError(error, 'spawnFailed')) throw error;
    const { message, data } = error;
    throw new ExecError('spawnFailed', `failed to spawn ${noun}: ${message}`, { data, cause: error });
  }
}

/** Makes a request's path absolute on the environment's machine. */
export async function resolveCwd(
  environment: Environment,
  cwd: string | null | undefined,
): Promise<string | undefined> {
  if (cwd == null) return undefined;
  if (cwd.startsWith('/')) return absolutePath(cwd);
  const { cwd: base } = await environment.info();
  if (base == null) throw new ExecError('invalidRequest', 'a relative cwd needs an environment that has one');
  return absolutePath(`${fileURLToPath(base)}/${cwd}`);
}

/** Removes dot segments, double slashes and a trailing slash. */
export function absolutePath(path: string): string {
  return posix.resolve('/', path);
}

/** Refuses a terminal size of zero; `what` starts the message. */
export function assertSize(size: TerminalSize | null | undefined, what: string): void {
  if (size == null || (size.rows > 0 && size.cols > 0)) return;
  throw new ExecError('invalidParams', `${what} size rows and cols must be greater than 0`);
}

/** Sends streamed output as notifications. `idMember` is the JSON of the member that identifies the program. */
export function deltaOutlet(
  context: HandlerContext,
  method: 'command/exec/outputDelta' | 'process/outputDelta',
  idMember: string,
): RunOutlet {
  return {
    send: (stream, bytes, capReached) => {
      const delta = `"deltaBase64":"${encodeBase64(bytes)}","capReached":${capReached}`;
      context.notifyText(method, `{${idMember},"stream":"${stream}",${delta}}`);
    },
    room: () => context.room(),
  };
}
