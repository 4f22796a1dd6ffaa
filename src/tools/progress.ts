import type { ToolSession } from './session/tool-session.js';
import { TerminalText } from './text/terminal-text.js';
import type { ToolContext } from './tool.js';

/** Often enough that a client does not give up, rare enough to cost nothing. */
const PROGRESS_INTERVAL_MS = 1000;
const MESSAGE_CHARS = 200;
const TAIL_BYTES = 2048;

/** Reports progress to the caller until the returned object is disposed. */
export function reportProgress(session: ToolSession, context: ToolContext): Disposable {
  const { onProgress } = context;
  if (!onProgress) return { [Symbol.dispose]: () => undefined };
  const startedAt = performance.now();
  let over = false;
  const timer = setInterval(() => {
    const seconds = (performance.now() - startedAt) / 1000;
    lastLine(session)
      // Calls that read the transcript report the failure. Progress continues without the line.
      .catch(() => '')
      .then((message) => {
        // Progress after the answer would confuse the caller.
        if (!over) onProgress({ seconds, message });
      })
      .catch(() => undefined);
  }, PROGRESS_INTERVAL_MS);
  return {
    [Symbol.dispose]: () => {
      over = true;
      clearInterval(timer);
    },
  };
}

async function lastLine(session: ToolSession): Promise<string> {
  const { transcript } = session;
  let last = '';
  const keep = (line: string): void => {
    if (line.trim() !== '') last = line;
  };
  const text = new TerminalText({ maxLineChars: MESSAGE_CHARS, emit: keep });
  text.write(new TextDecoder().decode(await transcript.lastBytes(transcript.end, TAIL_BYTES)));
  keep(text.end() ?? '');
  return last;
}
