import type { LocalProcess } from '../../host/index.js';
import type { KeptProcess } from '../kept-process.js';

/** Makes a process viewable for other sessions of its owner. */
export type ShowProcess = (process: LocalProcess, owner: string) => KeptProcess;

/** Processes of a session that other sessions of the same client view. */
export class ShownProcesses {
  readonly #show: ShowProcess | undefined;
  readonly #shown = new Map<string, KeptProcess>();

  constructor(show: ShowProcess | undefined) {
    this.#show = show;
  }

  /** The process as others use it; undefined where nothing can be shown. */
  show(process: LocalProcess, owner: string): KeptProcess | undefined {
    const known = this.#shown.get(process.processId);
    if (known?.process === process) return known;
    const shown = this.#show?.(process, owner);
    if (shown) this.#shown.set(process.processId, shown);
    return shown;
  }

  /** Nobody views it any more. */
  hide(processId: string): void {
    const shown = this.#shown.get(processId);
    this.#shown.delete(processId);
    shown?.forget();
  }

  hideAll(): void {
    for (const processId of [...this.#shown.keys()]) this.hide(processId);
  }
}
