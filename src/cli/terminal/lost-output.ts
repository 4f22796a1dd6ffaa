/** What could not be written to our own stdout. It is reported once, by what listens to the stream. */
let lost: Error | undefined;

/** Why output was lost, for people; null if they need no words, because its reader left, as `head` does. */
export function noteLostOutput(error: Error): string | null {
  lost = error;
  if (isReaderGone(error)) return null;
  const code = codeOf(error);
  return `Cannot write to stdout: ${code === 'ENOSPC' ? 'the disk is full' : (code ?? error.message)}.`;
}

/** Whether an error is that of writing to stdout, or follows from it. */
export function isLostOutput(error: unknown): boolean {
  return lost !== undefined && error instanceof Error && (error === lost || error.cause === lost);
}

export function isReaderGone(error: unknown): boolean {
  return codeOf(error) === 'EPIPE';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
