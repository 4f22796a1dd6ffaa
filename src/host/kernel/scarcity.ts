const ERRORS: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS', 'ENOSPC'];

/** The same errors as programs and the dynamic loader phrase them. */
const WORDS =
  /Too many open files|Cannot allocate memory|Resource temporarily unavailable|No space left|cannot fork/i;

/** True if the machine was short of resources: whatever failed for that reason may work the next time. */
export function isScarcity(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, data } = error as { code?: unknown; data?: { reason?: unknown } };
  return ERRORS.includes(String(code)) || data?.reason === 'resourceLimit' || mentionsScarcity(error.message);
}

export function mentionsScarcity(words: string): boolean {
  return WORDS.test(words) || ERRORS.some((name) => words.includes(name));
}
