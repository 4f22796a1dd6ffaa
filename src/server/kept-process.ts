import type { ProcessSummary, TerminalSize } from '../contract/index.js';
import type { LocalProcess } from '../host/index.js';
import type { Lease } from '../protocol/index.js';
import { after } from '../protocol/max-timer.js';
import { ProcessScreen, type ScreenRenderer } from '../screen/index.js';
import { Keyboard, type Typist } from './keyboard.js';

/** A session that uses a kept process. */
export interface KeptClient extends Typist {
  /** Whether its unread output may make the program wait. */
  readonly mayPause: boolean;
  /** Its terminal has another size. */
  resized(size: TerminalSize, afterSeq: number): void;
  /** Makes the program wait for it, or stop waiting for it. */
  pace(paces: boolean): void;
  /** The process is no longer known. */
  forgotten(): void;
}

export interface KeptProcessOptions {
  /** Whose process it is. Nobody else can use it. */
  readonly owner: string;
  readonly lease: Lease;
  readonly renderer: ScreenRenderer;
  /** The bytes its log keeps in memory. */
  readonly retainedBytes?: number | undefined;
  /** Since when nobody has used it, if an earlier server started it. */
  readonly unusedSinceMs?: number | undefined;
  /** Called when the lease has run out. */
  readonly expired: () => void;
}

/**
 * A process that outlives the sessions that use it. The program waits for at most one of them, the first; others that cannot keep
 * up lose output, which is counted. When that session leaves, or has lost its connection by the time another arrives, the next
 * one takes its place. Also stands for a process that ends with its session while others view it.
 */
export class KeptProcess {
  readonly process: LocalProcess;
  readonly owner: string;
  readonly lease: Lease;
  /** Null without a terminal. */
  readonly screen: ProcessScreen | null;
  readonly keyboard = new Keyboard();
  readonly #expired: () => void;
  /** In the order they came. */
  readonly #clients = new Set<KeptClient>();
  readonly #onForgotten = new Set<() => void>();
  #pacer: KeptClient | undefined;
  #stopLease: (() => void) | undefined;
  #newestNumber = 0;

  constructor(process: LocalProcess, options: KeptProcessOptions) {
    this.process = process;
    this.owner = options.owner;
    this.lease = options.lease;
    this.#expired = options.expired;
    this.screen = this.#openScreen(options);
    // The session that started it may be gone already.
    this.#startLease(options.unusedSinceMs);
  }

  get attached(): number {
    return this.#clients.size;
  }

  /** Numbers up to this one were given by an earlier server. */
  continueNumbers(newest: number): void {
    this.#newestNumber = Math.max(this.#newestNumber, newest);
  }

  /** For the next client. */
  nextNumber(): number {
    this.#newestNumber += 1;
    return this.#newestNumber;
  }

  /** The client with this number. */
  clientWith(number: number): KeptClient | undefined {
    return [...this.#clients].find((client) => client.number === number);
  }

  attach(client: KeptClient): void {
    this.#stopLease?.();
    this.process.keeping?.unused(null);
    this.#clients.add(client);
    if (client.mayPause && !this.#pacer?.isConnected()) this.#waitFor(client);
  }

  letGo(client: KeptClient): void {
    if (!this.#clients.delete(client)) return;
    this.keyboard.leave(client);
    if (this.#pacer === client) this.#waitFor(this.#nextPacer());
    if (this.#clients.size === 0) this.#startLease();
  }

  /** Forgets the process: its id is unknown from here on. */
  forget(): void {
    this.#stopLease?.();
    const clients = [...this.#clients];
    this.#clients.clear();
    for (const client of clients) client.forgotten();
    for (const listener of [...this.#onForgotten]) listener();
  }

  /** Calls back when it is forgotten. Returns an unsubscribe function. */
  onForgotten(listener: () => void): () => void {
    this.#onForgotten.add(listener);
    return () => this.#onForgotten.delete(listener);
  }

  summary(): ProcessSummary {
    return { ...this.process.summary(), lease: this.lease, attached: this.attached };
  }

  #openScreen({ renderer, retainedBytes }: KeptProcessOptions): ProcessScreen | null {
    const { log, size } = this.process;
    if (!size) return null;
    const screen = new ProcessScreen({ log, size, retainedBytes, render: (job) => renderer.render(job) });
    log.subscribe(() => screen.printed());
    this.process.onResized = (size) => {
      screen.resized(size);
      for (const client of this.#clients) client.resized(size, log.nextSeq - 1);
    };
    return screen;
  }

  #nextPacer(): KeptClient | undefined {
    const candidates = [...this.#clients].filter(({ mayPause }) => mayPause);
    return candidates.find((client) => client.isConnected()) ?? candidates[0];
  }

  #waitFor(client: KeptClient | undefined): void {
    this.#pacer?.pace(false);
    this.#pacer = client;
    client?.pace(true);
  }

  #startLease(sinceMs = Date.now()): void {
    if (typeof this.lease !== 'number') return;
    this.process.keeping?.unused(sinceMs);
    const leftMs = Math.max(0, Math.min(this.lease, sinceMs + this.lease - Date.now()));
    this.#stopLease = after(leftMs, this.#expired);
  }
}
