/** The server's instructions for a model, as briefly as possible. */
export function instructionsFor({ holds }: { holds: boolean }): string {
  return holds ? `${TWO_CALLS}\n${HELD}` : TWO_CALLS;
}

const HELD = `Your changes are held: your commands see them, and the user applies them at the end. held_changes shows them.`;

const TWO_CALLS = `Run commands with exec_command. It returns when the command ends, when it waits for input, or after yield_time_ms.
If the answer says "Running with session ID N", the command is still running: call write_stdin with session_id \
N, with chars to type or with empty chars to read new output. Nothing is lost between calls.
Do not poll in a loop: wait_for returns once when the command ends, a pattern appears, a port opens, output falls quiet \
or the program needs input.
Ctrl-C is chars "\\u0003". kill_session ends a command and everything it started.
When output was truncated, read_output fetches the rest by line range or pattern.`;
