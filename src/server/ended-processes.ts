import type { KeptProcess } from './kept-process.js';

/** Ended processes a server keeps readable. At the limit, the principal with the most loses the one that ended first. */
const MAX_ENDED = 256;

/** Kept processes that have ended and can still be read, and whose they are. */
export class EndedProcesses {
  /** In the order they ended. */
  readonly #ended = new Map<KeptProcess, string>();

  get size(): number {
    return this.#ended.size;
  }

  has(kept: KeptProcess): boolean {
    return this.#ended.has(kept);
  }

  ownerOf(kept: KeptProcess): string | undefined {
    return this.#ended.get(kept);
  }

  add(kept: KeptProcess, principal: string): void {
    this.#ended.set(kept, principal);
  }

  delete(kept: KeptProcess): void {
    this.#ended.delete(kept);
  }

  clear(): void {
    this.#ended.clear();
  }

  /** The next one to forget; undefined while there is room. */
  surplus(): KeptProcess | undefined {
    if (this.#ended.size <= MAX_ENDED) return undefined;
    const ended = this.#largestShare();
    return ended.find(({ attached }) => attached === 0) ?? ended[0];
  }

  /** The ended processes of the client that has the most, so that no client can push out those of others. */
  #largestShare(): KeptProcess[] {
    const shares = new Map<string, KeptProcess[]>();
    for (const [kept, principal] of this.#ended) {
      const share = shares.get(principal) ?? [];
      shares.set(principal, share);
      share.push(kept);
    }
    return [...shares.values()].reduce((most, share) => (share.length > most.length ? share : most));
  }
}
