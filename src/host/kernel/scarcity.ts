const ERRORS: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS', 'ENOSPC'];

/** The same in words, as programs and the loader of libraries say it. */
const WORDS =
  /Too many open files|Cannot allocate memory|Resource temporarily unavailable|No space left|cannot fork/i;

/** Whether the machine was short of something for a moment: what fails for that reason may work the next time. */
export function isScarcity(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, data } = error as { code?: unknown; data?: { reason?: unknown } };
  return ERRORS.includes(String(code)) || data?.reason === 'resourceLimit' || speaksOfScarcity(error.message);
}

export function speaksOfScarcity(words: string): boolean {
  return WORDS.test(words) || ERRORS.some((name) => words.includes(name));
}
