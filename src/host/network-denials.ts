import type { Decided } from './network/index.js';
import type { NetworkDenial } from '../protocol/index.js';

/** Different hosts remembered, to explain why a program failed. */
const MAX_DENIALS = 16;

/** Collects what the rules kept a program from. */
export class NetworkDenials {
  readonly #seen = new Map<string, NetworkDenial>();
  readonly #onNew: (denial: NetworkDenial) => void;

  constructor(onNew: (denial: NetworkDenial) => void = () => undefined) {
    this.#onNew = onNew;
  }

  readonly note = ({ request, decision, reason }: Decided): void => {
    const { host, port } = request;
    const key = `${host} ${port} ${reason}`;
    if (decision === 'allow' || this.#seen.size >= MAX_DENIALS || this.#seen.has(key)) return;
    const denial = { host, port, reason };
    this.#seen.set(key, denial);
    this.#onNew(denial);
  };

  get list(): readonly NetworkDenial[] {
    return [...this.#seen.values()];
  }
}
