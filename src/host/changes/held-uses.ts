import type { HeldView } from '../sandbox/index.js';
import { nodeAt } from './node.js';
import { inodeOf } from './scan.js';

type End = Parameters<HeldView['onEnd']>[0];
type Places = Parameters<HeldView['onEnd']>[1];

interface Use {
  readonly end: End;
  readonly places: Places;
  /** What was below these places. */
  readonly below: string;
}

/** Sandboxes that wait for a program or for file operations, in the files of one set. */
export class HeldUses {
  readonly #uses = new Set<Use>();

  /** Returns a function that removes it. */
  add(end: End, places: Places): () => void {
    const use = { end, places, below: identityOf(places) };
    this.#uses.add(use);
    return () => void this.#uses.delete(use);
  }

  /** Ends those that show something by its old name which somebody has replaced below. */
  async endOutdated(): Promise<void> {
    await this.#end(({ places, below }) => identityOf(places) !== below);
  }

  async end(): Promise<void> {
    await this.#end(() => true);
  }

  async #end(isMeant: (use: Use) => boolean): Promise<void> {
    await Promise.all([...this.#uses].filter(isMeant).map(({ end }) => end()));
  }
}

function identityOf(places: Places): string {
  return places.map(({ path }) => lookBelow(path)).join(' ');
}

/** What is there may not be ours to look at. Then sandboxes do not show it, either. */
function lookBelow(path: string): string {
  try {
    const node = nodeAt(Buffer.from(path));
    return node === undefined ? '-' : inodeOf(node);
  } catch {
    return '-';
  }
}
