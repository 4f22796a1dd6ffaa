import { type CopyObserver, measureTree, type OpenPlace } from '../../copy/index.js';
import { complain, FAILURE } from '../exit-codes.js';
import { Progress } from '../terminal/progress.js';
import { printable } from '../terminal/table.js';

/** Tells the user how a copy goes, what was left out, and by the exit code whether everything was copied. */
export class CopyReport implements Disposable {
  readonly #progress: Progress;
  readonly #verbose: boolean;
  #followed = 0;
  #missing = 0;

  constructor({ quiet = false, verbose = false }: { quiet?: boolean; verbose?: boolean }) {
    this.#progress = new Progress({ quiet: quiet || verbose });
    this.#verbose = verbose;
  }

  /** Determines how much there is to do, if that is shown. Another machine would list everything twice. */
  async measure(source: OpenPlace, signal: AbortSignal): Promise<void> {
    if (!this.#progress.isShown || source.machine !== undefined) return;
    void measureTree(source, signal).then((total) => total.files > 0 && this.#progress.expect(total));
  }

  get observer(): Omit<CopyObserver, 'signal'> {
    const progress = this.#progress;
    return {
      onFollowed: () => void (this.#followed += 1),
      onTotal: (bytes) => progress.expect({ files: 1, bytes }),
      onBytes: (bytes) => progress.add(bytes),
      onFile: () => progress.addFile(),
      onSkipped: (path, why) => this.#miss(`left out ${path}: ${why}`),
      onFailed: ({ message }) => this.#miss(message),
      ...(this.#verbose ? { onCopied: (path) => process.stdout.write(`${printable(path)}\n`) } : {}),
    };
  }

  /** The final report. Anything missing makes the whole command fail. */
  finish(): void {
    this.#progress.clear();
    if (this.#followed > 0) complainOfLinks(this.#followed);
    if (this.#missing > 0) process.exitCode = FAILURE;
  }

  [Symbol.dispose](): void {
    this.#progress[Symbol.dispose]();
  }

  #miss(text: string): void {
    this.#missing += 1;
    this.#progress.clear();
    complain(new Error(text));
  }
}

function complainOfLinks(count: number): void {
  const links = count === 1 ? '1 link was' : `${count} links were`;
  process.stderr.write(
    `execwire: ${links} followed: one of the servers can neither report nor create links\n`,
  );
}
