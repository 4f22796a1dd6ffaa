import { Worker } from 'node:worker_threads';
import { after } from '../protocol/max-timer.js';
import type { RenderedScreen, RenderJob } from './screen-state.js';

/** The time limit of a job. Only output crafted for it keeps the emulator busy for longer. */
const JOB_LIMIT_MS = 3_000;
/** The thread ends after being idle for this long. */
const IDLE_MS = 10_000;
const MAX_HEAP_MB = 256;
/** After a job that nobody waits for, the thread rests for this many times its duration. */
const REST_FACTOR = 9;

interface Task {
  readonly job: RenderJob;
  readonly done: (screen: RenderedScreen | null) => void;
}

/**
 * Renders screens one at a time on a separate thread, which exists only while needed. Screens that somebody waits for go
 * first.
 */
export class ScreenRenderer {
  readonly #script: URL;
  readonly #urgent: Task[] = [];
  readonly #background: Task[] = [];
  #worker: Worker | undefined;
  #current: Task | undefined;
  #restUntil = 0;
  #stopTimer: (() => void) | undefined;
  #closed = false;

  /** `script`: the compiled `worker.js` of this folder. */
  constructor(script: URL) {
    this.#script = script;
  }

  /** Null if it could not be rendered. */
  render(job: RenderJob): Promise<RenderedScreen | null> {
    return new Promise((done) => {
      (job.shown ? this.#urgent : this.#background).push({ job, done });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { done } of [...this.#urgent.splice(0), ...this.#background.splice(0)]) done(null);
    const worker = this.#worker;
    this.#settle(null);
    this.#stopTimer?.();
    this.#worker = undefined;
    await worker?.terminate();
  }

  #next(): void {
    if (this.#current || this.#closed) return;
    const task = this.#urgent.shift() ?? this.#rested();
    if (!task) return;
    this.#stopTimer?.();
    this.#current = task;
    const begun = performance.now();
    const worker = (this.#worker ??= this.#open());
    worker.ref();
    worker.once('message', (screen: RenderedScreen) => {
      const now = performance.now();
      if (!task.job.shown) this.#restUntil = now + (now - begun) * REST_FACTOR;
      this.#settle(screen);
    });
    this.#stopTimer = after(JOB_LIMIT_MS, () => this.#discard(worker));
    worker.postMessage(task.job);
  }

  /** The next job that nobody waits for, once the thread has rested. */
  #rested(): Task | undefined {
    if (this.#background.length === 0) return undefined;
    const restMs = this.#restUntil - performance.now();
    if (restMs <= 0) return this.#background.shift();
    this.#stopTimer?.();
    this.#stopTimer = after(restMs, () => this.#next());
    return undefined;
  }

  #open(): Worker {
    const worker = new Worker(this.#script, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      // It prints nothing, and must not inherit the server's options.
      stdout: true,
      stderr: true,
      env: {},
      execArgv: [],
    });
    worker.on('error', () => this.#discard(worker));
    worker.on('exit', () => this.#discard(worker));
    return worker;
  }

  /** Ends a thread that takes too long or has failed. The next job gets a new one. */
  #discard(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    worker.removeAllListeners('message');
    void worker.terminate();
    this.#settle(null);
  }

  #settle(screen: RenderedScreen | null): void {
    const task = this.#current;
    if (!task) return;
    this.#current = undefined;
    this.#stopTimer?.();
    // An idle thread must not keep the process alive, and ends soon.
    this.#worker?.unref();
    this.#stopTimer = after(IDLE_MS, () => this.#discardIdle());
    task.done(screen);
    this.#next();
  }

  #discardIdle(): void {
    if (this.#worker) this.#discard(this.#worker);
  }
}
