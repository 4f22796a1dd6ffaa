import type { Child, ChildEnd, ChildSink, ChildSpec } from '../../../src/host/spawn/index.js';
import { spawnChild } from '../../../src/host/spawn/index.js';
import { spawnPortableChild } from '../../../src/host/spawn/portable-spawn.js';
import { spawnPosixChild } from '../../../src/host/spawn/posix-child.js';

export type Spawn = typeof spawnChild;

/** Everything a child told, in order; output of one stream that came in a row is one entry. */
export class Recorder implements ChildSink {
  readonly events: string[] = [];
  readonly #chunks: { stream: string; bytes: Uint8Array }[] = [];
  readonly #wanted = new Set<() => boolean>();
  #length = 0;
  end: ChildEnd | undefined;
  closedTimes = 0;

  output(stream: string, bytes: Uint8Array): void {
    this.#chunks.push({ stream, bytes });
    this.#length += bytes.length;
    if (this.events.at(-1) !== stream) this.events.push(stream);
    this.#check();
  }

  exited(end: ChildEnd): void {
    this.end = end;
    this.events.push('exited');
    this.#check();
  }

  closed(): void {
    this.closedTimes += 1;
    this.events.push('closed');
    this.#check();
  }

  /** Bytes of all streams so far. */
  get length(): number {
    return this.#length;
  }

  bytes(...streams: string[]): Buffer {
    const wanted = this.#chunks.filter(({ stream }) => streams.length === 0 || streams.includes(stream));
    return Buffer.concat(wanted.map(({ bytes }) => bytes));
  }

  text(...streams: string[]): string {
    return this.bytes(...streams).toString();
  }

  /** Resolves as soon as what was told satisfies the condition. */
  async until(condition: (seen: Recorder) => boolean): Promise<this> {
    if (condition(this)) return this;
    await new Promise<void>((resolve) => {
      const check = (): boolean => {
        if (!condition(this)) return false;
        resolve();
        return true;
      };
      this.#wanted.add(check);
    });
    return this;
  }

  untilClosed(): Promise<this> {
    return this.until(({ closedTimes }) => closedTimes > 0);
  }

  untilExited(): Promise<this> {
    return this.until(({ end }) => end !== undefined);
  }

  #check(): void {
    for (const check of this.#wanted) if (check()) this.#wanted.delete(check);
  }
}

const defaults = {
  cwd: '/',
  env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
  stdin: 'null',
  terminal: null,
} as const;

export const screen = { rows: 24, cols: 80 };

/** Starts `argv` with sensible defaults and records what happens. */
export function start(
  argv: readonly string[],
  spec: Partial<ChildSpec> = {},
  spawn: Spawn = spawnChild,
): { child: Child; seen: Recorder } {
  const seen = new Recorder();
  return { child: spawn({ ...defaults, argv, ...spec }, seen), seen };
}

export function shell(script: string, spec: Partial<ChildSpec> = {}, spawn: Spawn = spawnChild) {
  return start(['/bin/sh', '-c', script], spec, spawn);
}

/** Both ways to start a child, for what they must have in common. */
export const backends: readonly (readonly [string, Spawn])[] = [
  ['posix_spawn', spawnPosixChild],
  ['child_process', spawnPortableChild],
];

/** The two kinds of streams of the native backend. */
export const kinds = [
  ['pipes', null],
  ['terminal', screen],
] as const;

/** A probe with its own clock, for what has no event: polls until it holds. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

let counter = 0;

/** A number of seconds nobody else sleeps, so that a `sleep` can be recognised by it. */
export function uniqueSeconds(): string {
  counter += 1;
  return `${100_000 + (process.pid % 50_000)}.${process.hrtime.bigint() % 1_000_000n}${counter}`;
}

/**
 * Five sleepers that leave by every known door: a background job, a new session, a job of a shell that has gone, a double
 * fork and a daemon without environment.
 */
export function escapeArtists(seconds: string): string {
  return `
    sleep ${seconds} &
    setsid sleep ${seconds} &
    setsid sh -c 'sleep ${seconds} & setsid sleep ${seconds} & exit 0' &
    env -i /usr/bin/setsid -f /usr/bin/setsid -f /bin/sleep ${seconds}
    echo ready
    wait`;
}
