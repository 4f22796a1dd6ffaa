/** A server that dies this often within a minute is not dying by accident. */
export const MAX_DEATHS = 30;
const WITHIN_MS = 60_000;
/** A server that dies this often in a row before it is ready will never be. */
export const MAX_FAILED_STARTS = 10;

/** Decides whether a server that died is started again. */
export class Restarts {
  #deaths: number[] = [];
  #failedStarts = 0;

  /** Returns the reason not to try again; null to try again. */
  died({ wasReady, at }: { wasReady: boolean; at: number }): string | null {
    this.#deaths = [...this.#deaths, at].filter((each) => at - each < WITHIN_MS);
    this.#failedStarts = wasReady ? 0 : this.#failedStarts + 1;
    if (this.#failedStarts >= MAX_FAILED_STARTS)
      return `the server died ${MAX_FAILED_STARTS} times in a row before it could be used`;
    if (this.#deaths.length >= MAX_DEATHS)
      return `the server died ${MAX_DEATHS} times within ${WITHIN_MS / 1000} seconds`;
    return null;
  }
}
