/** A tool call of the scripted model, as it travels inside `response.output_item.done`. */
export type ToolCall =
  | { readonly type: 'function_call'; readonly name: string; readonly arguments: string }
  | { readonly type: 'custom_tool_call'; readonly name: string; readonly input: string };

/**
 * A model written by hand. Each `yield` is one tool call and evaluates to what Codex reported for it; the returned
 * text is the model's last word. Being asynchronous, a script can wait for something to happen between two calls.
 */
export type ModelScript = AsyncGenerator<ToolCall, string, string>;

/** Options of `exec_command` as Codex names them. */
export interface ExecCommandOptions {
  readonly tty?: boolean;
  readonly login?: boolean;
  readonly workdir?: string;
  readonly yield_time_ms?: number;
  readonly sandbox_permissions?: 'require_escalated';
  readonly justification?: string;
}

/** The longest wait Codex allows. A command that ends is reported at once, so waiting long costs nothing. */
const longestYieldMs = 30_000;

/** The shortest wait Codex allows, for a command that is meant to be still running. */
export const shortestYieldMs = 250;

/** Run a shell command; waits for its end unless told otherwise. */
export function execCommand(cmd: string, options: ExecCommandOptions = {}): ToolCall {
  return functionCall('exec_command', { cmd, yield_time_ms: longestYieldMs, ...options });
}

/** Start a shell command that will still be running when the call returns. */
export function startCommand(cmd: string, options: ExecCommandOptions = {}): ToolCall {
  return execCommand(cmd, { yield_time_ms: shortestYieldMs, ...options });
}

/** Type into a running command, or only wait for it with empty `chars`. */
export function writeStdin(sessionId: number, chars: string, yieldTimeMs = longestYieldMs): ToolCall {
  return functionCall('write_stdin', { session_id: sessionId, chars, yield_time_ms: yieldTimeMs });
}

/** Change files with the freeform patch tool. */
export function applyPatch(...lines: readonly string[]): ToolCall {
  const input = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  return { type: 'custom_tool_call', name: 'apply_patch', input };
}

/** What a tool output says about a command: exactly one of `exitCode` and `sessionId` is set. */
export interface CommandReport {
  readonly exitCode: number | undefined;
  readonly sessionId: number | undefined;
  readonly output: string;
}

/** Reads the header lines Codex puts before a command's output. */
export function readReport(text: string): CommandReport {
  const [header = '', ...rest] = text.split(/^Output:\n/m);
  const number = (pattern: RegExp): number | undefined => {
    const digits = pattern.exec(header)?.[1];
    return digits === undefined ? undefined : Number(digits);
  };
  return {
    exitCode: number(/^Process exited with code (-?\d+)$/m),
    sessionId: number(/^Process running with session ID (\d+)$/m),
    output: rest.join('Output:\n'),
  };
}

/** The id to address a running command with; throws, with the report, when it is not running. */
export function runningSession(text: string): number {
  const { sessionId } = readReport(text);
  if (sessionId === undefined) throw new Error(`not a running command:\n${text}`);
  return sessionId;
}

function functionCall(name: string, args: object): ToolCall {
  return { type: 'function_call', name, arguments: JSON.stringify(args) };
}
