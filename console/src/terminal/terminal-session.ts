import type { RemoteEnvironment } from '../../../src/client/index.js';
import type { ExecProcess, TerminalSize } from '../../../src/contract/index.js';
import { attachTo, type ProcessPlace } from '../lib/attach.js';
import { messageOf } from '../lib/errors.js';
import { harmless } from '../lib/format.js';
import { canChange } from '../lib/session.js';
import { Store } from '../lib/store.js';
import { attempt, tell } from '../lib/toasts.js';
import { feed } from './process-feed.js';
import { showTerminal, type ShownTerminal } from './terminal.js';

export interface TerminalState {
  readonly phase: 'connecting' | 'live' | 'away' | 'ended' | 'failed';
  readonly problem: string | null;
  /** We type. */
  readonly holds: boolean;
  readonly size: TerminalSize | null;
  /** What the program calls its window. */
  readonly title: string;
}

export const CONNECTING: TerminalState = {
  phase: 'connecting',
  problem: null,
  holds: false,
  size: null,
  title: '',
};

const MAX_TITLE_CHARS = 80;
const RESIZE_DELAY_MS = 80;
/** Keys, or texts that were pasted. */
const MAX_TYPED_AHEAD = 1_000;

/** A view of one process: its screen, what follows, and the keyboard while we have it. */
export class TerminalSession {
  readonly state = new Store(CONNECTING);
  readonly shown: ShownTerminal;
  readonly #observer: ResizeObserver;
  #environment: RemoteEnvironment | undefined;
  #child: ExecProcess | undefined;
  #resizing: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  /** What was typed since somebody asked for the keyboard. */
  #typedAhead: (string | Uint8Array)[] | undefined;

  constructor(host: HTMLElement, place: ProcessPlace) {
    this.shown = showTerminal(host, { rows: 24, cols: 80, isLive: true });
    const { terminal } = this.shown;
    terminal.onData((text) => this.#type(text));
    terminal.onBinary((text) => this.#type(Uint8Array.from(text, (each) => each.charCodeAt(0))));
    terminal.onTitleChange((title) => this.#set({ title: harmless(title, MAX_TITLE_CHARS) }));
    this.#observer = new ResizeObserver(() => this.#hostResized());
    this.#observer.observe(host);
    void this.#run(place);
  }

  async takeKeyboard(): Promise<void> {
    // Whoever presses the button types on at once, however far away the machine is.
    this.shown.terminal.focus();
    this.#typedAhead ??= [];
    await attempt(async () => this.#child?.keyboard?.take());
    const typed = this.#typedAhead ?? [];
    this.#typedAhead = undefined;
    for (const data of typed) this.#type(data);
  }

  async giveKeyboard(): Promise<void> {
    await attempt(async () => this.#child?.keyboard?.give());
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#resizing);
    this.#observer.disconnect();
    this.shown.dispose();
    void this.#environment?.close();
  }

  async #run(place: ProcessPlace): Promise<void> {
    try {
      const environment = await place.machine.connect();
      if (this.#isOver) return void environment.close();
      this.#environment = environment;
      environment.watchConnection((isConnected) => this.#set({ phase: isConnected ? 'live' : 'away' }));
      const keyboard = canChange() ? 'none' : 'view';
      const child = await attachTo(environment, place, { screen: true, keyboard });
      this.#child = child;
      this.#follow(child);
      await feed(this.shown.terminal, child, () => this.#isOver);
      this.#set({ phase: 'ended', holds: false });
    } catch (error) {
      this.#set({ phase: 'failed', problem: messageOf(error) });
    }
  }

  #follow(child: ExecProcess): void {
    const { size = null } = child.screen ?? {};
    this.#set({ phase: 'live', size });
    child.watchSize?.((size) => {
      this.shown.terminal.resize(size.cols, size.rows);
      this.#set({ size });
      this.#arrange();
    });
    child.keyboard?.watch((news) => {
      if (news.type === 'asked') {
        const run = (): void => void child.keyboard?.give(news.by);
        tell('Somebody asks for the keyboard.', { action: { label: 'Hand over', run } });
        return;
      }
      this.#set({ holds: news.holds });
      this.#arrange();
    });
    // The screen has its size once it is written.
    setTimeout(() => this.#arrange());
  }

  #type(data: string | Uint8Array): void {
    if (this.#typedAhead) {
      if (this.#typedAhead.length < MAX_TYPED_AHEAD) this.#typedAhead.push(data);
      return;
    }
    if (!this.state.value.holds) return;
    void attempt(async () => this.#child?.write(data));
  }

  #hostResized(): void {
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => this.#arrange(), RESIZE_DELAY_MS);
  }

  /** Whoever types decides the size; everybody else sees that size, with smaller letters if need be. */
  #arrange(): void {
    if (this.#isOver) return;
    if (!this.state.value.holds) return this.shown.shrinkToFit();
    this.shown.useFullSize();
    const size = this.shown.fitting();
    const { terminal } = this.shown;
    if (!size || (size.rows === terminal.rows && size.cols === terminal.cols)) return;
    void this.#child?.resize(size).catch(() => undefined);
  }

  #set(change: Partial<TerminalState>): void {
    if (!this.#isOver) this.state.update((state) => ({ ...state, ...change }));
  }
}
