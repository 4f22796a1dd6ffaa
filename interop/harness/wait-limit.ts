/**
 * How long a case waits for one thing to happen. Longer than the 25 s Codex spends on a lost server, and shorter than the
 * test runner's limit: a wait that gives up by itself leaves the test through its end, which stops what it started.
 */
export const waitLimitMs = 60_000;

/** Fails a wait that began at `since`, in `performance.now()` milliseconds, once it has lasted too long. */
export function giveUpIfLate(since: number, what: string): void {
  if (performance.now() - since > waitLimitMs)
    throw new Error(`waited ${waitLimitMs} ms in vain for ${what}`);
}
