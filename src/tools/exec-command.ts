import { z } from 'zod';
import type { ExecProcess } from '../contract/index.js';
import { readOnlySandbox } from '../policy/index.js';
import { ExecError, isExecError } from '../protocol/index.js';
import { MAX_YIELD_MS, MaxOutputTokens, milliseconds, Raw } from './arguments.js';
import { CommandReport, reportCommand } from './command-report.js';
import { absolutePath, defaultDirectory } from './paths.js';
import { reportProgress } from './progress.js';
import { interrupt } from './session/keystrokes.js';
import type { ToolSession } from './session/tool-session.js';
import { waitUntil } from './session/wait-until.js';
import { tool, type ToolContext } from './tool.js';
import { yieldWindow } from './yield-window.js';

/** How long the command of a cancelled call has to react to Ctrl-C before its tree is killed. */
const INTERRUPT_GRACE_MS = 2_000;
const SIZE = { rows: 24, cols: 80 };
/** Merges stderr into stdout: two separate pipes would lose the order of their output. */
const MERGE_STREAMS = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh'];

const Arguments = z.object({
  cmd: z.string().min(1),
  yield_time_ms: milliseconds({ default: 10_000 }),
  max_output_tokens: MaxOutputTokens.meta({
    description: 'If unset, longer output is cut to 2000.',
  }),
  shell: z.string().default('/bin/bash'),
  login: z.boolean().default(true),
  tty: z.boolean().default(true).meta({
    description: 'On a terminal.',
  }),
  sandbox: z.enum(['read-only']).optional().meta({
    description: 'No writes, no network.',
  }),
  workdir: z.string().optional(),
  raw: Raw,
});
type Arguments = z.output<typeof Arguments>;

export const execCommand = tool({
  name: 'exec_command',
  title: 'Run a command',
  description:
    'Runs a shell command. Returns when it ends, waits for input, or after yield_time_ms. A command that is still ' +
    'running has a session ID.',
  input: Arguments,
  output: CommandReport,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run(args, context) {
    const startedAt = performance.now();
    const { session, ended } = await context.sessions.add({
      command: args.cmd,
      start: () => start(args, context),
    });
    await waitForEnd(session, context, Math.min(args.yield_time_ms, MAX_YIELD_MS));
    const notes = ended.map((id) => `Session ${id} was ended to make room: the session limit is reached.`);
    return await reportCommand(session, context, { ...args, startedAt, notes });
  },
});

async function start(args: Arguments, context: ToolContext): Promise<ExecProcess> {
  const { environment, settings, signal } = context;
  const command = [args.shell, args.login ? '-lc' : '-c', args.cmd];
  const { workdir } = args;
  const cwd = await (workdir === undefined ? defaultDirectory(context) : absolutePath(workdir, context));
  if (signal?.aborted) throw new ExecError('aborted', 'The call was cancelled before the command started.');
  const starting = environment.start({
    argv: args.tty ? command : [...MERGE_STREAMS, ...command],
    env: settings.env,
    ...(cwd === undefined ? {} : { cwd }),
    ...(args.tty ? { tty: true, size: SIZE } : { pipeStdin: true }),
    ...(settings.limits ? { limits: settings.limits } : {}),
    ...(args.sandbox === 'read-only' ? { sandbox: readOnlySandbox(environment.sandbox ?? null) } : {}),
  });
  return await starting.catch((error: unknown) => {
    throw isExecError(error, 'spawnFailed') && error.data.errno === 'E2BIG' ? tooLong(error) : error;
  });
}

function tooLong(cause: ExecError): ExecError {
  const message = 'The command is too long. Write it to a file with write_file, and run that.';
  return new ExecError('spawnFailed', message, { data: cause.data, cause });
}

async function waitForEnd(session: ToolSession, context: ToolContext, timeoutMs: number): Promise<void> {
  using _progress = reportProgress(session, context);
  try {
    await yieldWindow(session, { timeoutMs, signal: context.signal });
  } catch (error) {
    if (isExecError(error, 'aborted')) await abandon(session, context);
    throw error;
  }
}

/** The caller never learns this session's ID, so the command gets Ctrl-C and a moment to clean up. */
async function abandon(session: ToolSession, { sessions }: ToolContext): Promise<void> {
  session.reported = true;
  interrupt(session.process);
  await waitUntil(session, () => session.over, { timeoutMs: INTERRUPT_GRACE_MS });
  await sessions.remove(session, 'the call that started it was cancelled.');
}
