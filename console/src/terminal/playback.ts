import type { Terminal } from '@xterm/xterm';
import { Store } from '../lib/store.js';
import type { Recording } from './recording.js';
import { type ShownTerminal, showTerminal } from './terminal.js';

export interface PlaybackState {
  readonly isPlaying: boolean;
  readonly atMs: number;
  readonly speed: number;
  readonly skipsIdle: boolean;
}

export const STILL: PlaybackState = { isPlaying: false, atMs: 0, speed: 1, skipsIdle: true };

/** A pause longer than this is cut to it, if somebody wants that. */
const IDLE_MS = 1_000;

/** Plays a recording into a terminal, at any speed, from anywhere. */
export class Playback {
  readonly state = new Store(STILL);
  readonly #recording: Recording;
  readonly #shown: ShownTerminal;
  readonly #observer: ResizeObserver;
  #next = 0;
  #lastTick = 0;
  #frame: number | undefined;

  constructor(host: HTMLElement, recording: Recording) {
    this.#recording = recording;
    this.#shown = showTerminal(host, { ...recording.size, isLive: false });
    const arrange = (): void => this.#shown.shrinkToFit();
    this.#observer = new ResizeObserver(arrange);
    this.#observer.observe(host);
    this.#terminal.onResize(arrange);
    this.seek(recording.durationMs);
  }

  play(): void {
    if (this.state.value.isPlaying) return;
    if (this.state.value.atMs >= this.#recording.durationMs) this.seek(0);
    this.#set({ isPlaying: true });
    this.#lastTick = performance.now();
    this.#schedule();
  }

  pause(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#set({ isPlaying: false });
  }

  setSpeed(speed: number): void {
    this.#set({ speed });
  }

  setSkipsIdle(skipsIdle: boolean): void {
    this.#set({ skipsIdle });
  }

  /** Shows the screen as it was at that time. */
  seek(toMs: number): void {
    const atMs = Math.max(0, Math.min(toMs, this.#recording.durationMs));
    if (atMs < this.state.value.atMs || this.#next === 0) {
      const { cols, rows } = this.#recording.size;
      this.#terminal.reset();
      this.#terminal.resize(cols, rows);
      this.#next = 0;
    }
    this.#showUntil(atMs);
    this.#set({ atMs });
  }

  close(): void {
    this.#observer.disconnect();
    this.#shown.dispose();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  get #terminal(): Terminal {
    return this.#shown.terminal;
  }

  #schedule(): void {
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now: number): void {
    const { speed, skipsIdle, isPlaying } = this.state.value;
    if (!isPlaying) return;
    const passed = Math.max(0, now - this.#lastTick) * speed;
    this.#lastTick = now;
    let { atMs } = this.state.value;
    const nextMs = this.#recording.cues[this.#next]?.atMs ?? this.#recording.durationMs;
    // Nothing happens for a while: only the end of the pause is played.
    if (skipsIdle && nextMs - atMs > IDLE_MS) atMs = nextMs - IDLE_MS;
    const toMs = Math.min(atMs + passed, this.#recording.durationMs);
    this.#showUntil(toMs);
    this.#set({ atMs: toMs });
    if (toMs >= this.#recording.durationMs) this.pause();
    else this.#schedule();
  }

  #showUntil(toMs: number): void {
    const { cues } = this.#recording;
    let text = '';
    for (; this.#next < cues.length; this.#next += 1) {
      const cue = cues[this.#next];
      if (!cue || cue.atMs > toMs) break;
      if (cue.type === 'text') text += cue.text;
      else if (cue.type === 'resize') {
        this.#terminal.write(text);
        text = '';
        const { cols, rows } = cue.size;
        this.#terminal.write('', () => this.#terminal.resize(cols, rows));
      }
    }
    if (text !== '') this.#terminal.write(text);
  }

  #set(change: Partial<PlaybackState>): void {
    this.state.update((state) => ({ ...state, ...change }));
  }
}
