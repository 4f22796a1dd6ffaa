import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ChildSink } from './child.js';
import { ChildBase } from './child-base.js';
import { type ChildInput, noInput } from './child-input.js';
import { type ChildEnd, endFromNode } from './exit-status.js';
import { PipeInput } from './pipe-input.js';
import type { TreeRoot } from './known-trees.js';

/** Loop turns spent on leftover output before the exit is reported, in case background jobs never fall silent. */
const SETTLE_TURNS = 16;

/** A `node:child_process` child with our event order: its own output, then `exited`, then `closed`. */
export class PortableChild extends ChildBase {
  protected readonly input: ChildInput;
  readonly #outputs: readonly Readable[];
  readonly #sink: ChildSink;
  #openOutputs: number;
  #paused = false;
  #sawBytes = false;

  constructor(child: ChildProcess, root: TreeRoot, sink: ChildSink) {
    super(root, sink);
    this.#sink = sink;
    this.input = child.stdin ? new PipeInput(child.stdin) : noInput;
    this.#outputs = [this.#follow('stdout', child.stdout), this.#follow('stderr', child.stderr)];
    this.#openOutputs = this.#outputs.length;
    child.once('exit', (code, signal) => this.#reaped(endFromNode(code, signal)));
  }

  protected get outputEnded(): boolean {
    return this.#openOutputs === 0;
  }

  resize(): void {}

  terminalState(): null {
    return null;
  }

  pause(): void {
    this.#paused = true;
    for (const output of this.#outputs) output.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const output of this.#outputs) output.resume();
  }

  abandonOutput(): void {
    this.resume();
    this.#onceQuiet(() => {
      for (const output of this.#outputs) output.destroy();
    });
  }

  #follow(stream: 'stdout' | 'stderr', output: Readable | null): Readable {
    if (output === null) throw new Error(`${stream} is not a pipe`);
    output.on('data', (bytes: Uint8Array) => {
      this.#sawBytes = true;
      this.#sink.output(stream, bytes);
    });
    output
      .on('error', () => {})
      .once('close', () => {
        this.#openOutputs -= 1;
        this.closeIfOver();
      });
    return output;
  }

  #reaped(end: ChildEnd): void {
    this.leaderReaped();
    this.#insistOnPause();
    this.#onceQuiet(() => this.reportExit(end));
  }

  /** In the tick after `exit` Node resumes all output by itself, so we pause again in the tick after that. */
  #insistOnPause(): void {
    if (this.#paused) process.nextTick(() => process.nextTick(() => this.#paused && this.pause()));
  }

  /** Continues once the loop has polled the pipes without finding bytes, so nothing is left in them. */
  #onceQuiet(done: () => void, turns = SETTLE_TURNS): void {
    this.#sawBytes = false;
    // The first callback still runs in this turn of the loop; the second follows the next poll.
    setImmediate(() =>
      setImmediate(() => {
        const quiet = !this.#sawBytes || this.#paused || this.outputEnded;
        if (quiet || turns === 0) done();
        else this.#onceQuiet(done, turns - 1);
      }),
    );
  }
}
