import { MAX_TIMER_MS } from '../protocol/max-timer.js';

/** A log that can be waited for. */
export interface NewsSource {
  hasNews(afterSeq: number): boolean;
  subscribe(listener: () => void): () => void;
}

/** Resolves when there is news for a reader at this position, or the time is up. */
export async function awaitNews(log: NewsSource, afterSeq: number, waitMs: number): Promise<void> {
  if (log.hasNews(afterSeq)) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const stop = log.subscribe(() => {
      if (log.hasNews(afterSeq)) finish();
    });
    const timer = setTimeout(finish, Math.min(waitMs, MAX_TIMER_MS));
  });
}
