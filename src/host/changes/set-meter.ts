import { statfsSync } from 'node:fs';
import { errnoOf, isScarcity } from '../kernel/index.js';
import { exceeds, NOTHING, type Size } from './set-limits.js';
import { measure, storedSize, storeSize } from './set-size.js';
import { unlinkedBytes } from './unlinked-files.js';

/**
 * How often we look at the disk while programs run: seldom while there is room, and the more often the less there is, so that
 * it can hardly be filled between two looks.
 */
const [SHORTEST_LOOK_MS, LOOK_MS] = [2, 25];
/** Faster than programs write, per millisecond. */
const FASTEST: Size = { bytes: 4_000_000, files: 200 };
/** Without any sign on the disk, a set is measured this often, or before it can be full: others may free what it takes. */
const MEASURE_MS = 2_000;
/** A walk takes at most this part of the time: one in twenty, and one in four while the disk fills. */
const [CALM, HASTE] = [20, 4];

/** If it takes longer, programs could write gigabytes meanwhile. */
const SHORT_WALK_MS = 20;

/** Some fail because a program changes what is walked at that moment. After this many, it does that on purpose. */
const MAX_FAILURES = 20;

/** A program that runs in a set. */
export interface HeldProgram {
  /** The first process of its sandbox; null if there is none. */
  readonly initPid: () => number | null;
  /** Ends it, because the set is full. */
  readonly full: () => void;
  /** Stops it until the returned function is called. Null if that cannot be. */
  readonly pause: () => (() => void) | null;
}

export interface MeteredSet {
  readonly directory: string;
  /** How many directories it has. */
  readonly roots: () => number;
  /** How large it may become, as of now. */
  readonly largest: () => Size;
  /** Called when it takes up another amount of room than before. */
  readonly grown: () => void;
}

/**
 * Keeps a set from growing past its bound. No file system lets a plain user limit a directory, so we measure: by walking
 * it, which takes as long as there are files, and only if the whole disk has lost as much room as the set has left.
 */
export class SetMeter {
  readonly #set: MeteredSet;
  readonly #programs = new Set<HeldProgram>();
  /** Those of them that are stopped, and how they go on. */
  readonly #paused = new Map<HeldProgram, () => void>();
  #size: Size | null = null;
  /** How large it may become, as of then. */
  #largest: Size = NOTHING;
  #isFull = false;
  /** How often it could not be measured since it last was. */
  #failures = 0;
  /** What the disk had in use when we measured. */
  #disk: Size = NOTHING;
  #measuredAt = -Infinity;
  #tookMs = 0;
  #measuring: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(set: MeteredSet) {
    this.#set = set;
  }

  /** As of the last measurement, if there was one. */
  get size(): Size {
    return this.#size ?? storedSize(this.#set.directory);
  }

  /** As of the last measurement. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Measures if the set may be full; otherwise this costs one look at the disk. */
  async update(): Promise<void> {
    if (this.#isFull ? this.#isDue(HASTE) : this.#mayBeFull()) await this.#measure();
  }

  /** Looks after the set while programs run in it. Returns a function to call when this one has ended. */
  watch(program: HeldProgram): () => void {
    this.#programs.add(program);
    this.#isClosed = false;
    if (this.#programs.size === 1) this.#lookLater();
    return () => {
      if (!this.#programs.delete(program) || this.#programs.size > 0) return;
      // Other sets may become larger if this one is small, so what it has become must be known.
      this.#lookOnce();
    };
  }

  /** Nobody measures any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#measuring;
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#programs.size === 0) return;
    this.#timer = setTimeout(() => this.#look(), this.#pauseMs()).unref();
  }

  #pauseMs(): number {
    if (this.#size === null || this.#measuring !== null) return LOOK_MS;
    const possible = this.#possibleSize();
    if (possible === null) return LOOK_MS;
    return Math.max(SHORTEST_LOOK_MS, Math.min(LOOK_MS, this.#msToFill(possible) / 2));
  }

  /** How long it takes at least until a set of this size is full. */
  #msToFill({ bytes, files }: Size): number {
    const left = { bytes: this.#largest.bytes - bytes, files: this.#largest.files - files };
    return Math.min(left.bytes / FASTEST.bytes, left.files / FASTEST.files);
  }

  #look(): void {
    if (this.#measuring === null && (this.#isTime() || this.#mayBeFull())) void this.#measure();
    // Until it is over, what was found before counts.
    if (this.#measuring !== null && this.#isLong && this.#isTight()) this.#pauseAll();
    this.#lookLater();
  }

  /** Nothing is written while a long walk finds out whether there is room left. */
  #pauseAll(): void {
    for (const program of this.#programs) {
      const resume = this.#paused.has(program) ? null : program.pause();
      if (resume !== null) this.#paused.set(program, resume);
    }
  }

  #resumeAll(): void {
    for (const resume of this.#paused.values()) resume();
    this.#paused.clear();
  }

  get #isLong(): boolean {
    return this.#tookMs > SHORT_WALK_MS;
  }

  /** Whatever the disk says. */
  #isTime(): boolean {
    if (!this.#isDue(CALM)) return false;
    const pauseMs = Math.min(MEASURE_MS, this.#msToFill(this.#size ?? NOTHING));
    return performance.now() - this.#measuredAt > Math.max(LOOK_MS, pauseMs);
  }

  #lookOnce(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    if (this.#isDue(HASTE)) void this.#measure();
    else this.#timer = setTimeout(() => this.#lookOnce(), LOOK_MS).unref();
  }

  #isDue(share: number): boolean {
    return performance.now() - this.#measuredAt > share * this.#tookMs;
  }

  /** False only if the disk has lost less room than the set has left, or it was walked just now. */
  #mayBeFull(): boolean {
    // Whoever is stopped during a long walk waits for it.
    return (this.#isLong || this.#isDue(HASTE)) && this.#isTight();
  }

  /** Whether it may be full for all we know. */
  #isTight(): boolean {
    const possible = this.#size === null ? null : this.#possibleSize();
    return possible === null || exceeds(possible, this.#largest);
  }

  /**
   * As large as it can have become: whatever room the disk has lost since, it may have taken. Null if somebody has removed its
   * folder; measuring will tell.
   */
  #possibleSize(): Size | null {
    const { bytes, files } = this.#size ?? NOTHING;
    try {
      const now = this.#diskUse();
      return {
        bytes: bytes + now.bytes - this.#disk.bytes,
        files: files + now.files - this.#disk.files,
      };
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  #measure(): Promise<void> {
    this.#measuring ??= this.#measureNow()
      .then(
        () => {
          this.#failures = 0;
        },
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#measuring = null;
        this.#resumeAll();
        // The next look follows what was found.
        this.#lookLater();
      });
    return this.#measuring;
  }

  /** A set that is being discarded cannot be measured, nor need it be. But no program may keep us from measuring for long. */
  #failed(error: unknown): void {
    if (isScarcity(error)) return;
    this.#failures += 1;
    if (this.#failures < MAX_FAILURES) return;
    for (const { full } of this.#programs) full();
  }

  async #measureNow(): Promise<void> {
    const { directory, roots, largest, grown } = this.#set;
    const before = this.#size;
    const began = performance.now();
    try {
      const disk = this.#diskUse();
      this.#largest = largest();
      const { tooDeep, ...named } = await measure(directory, roots(), this.#largest);
      const unlinked = unlinkedBytes([...this.#programs].flatMap(({ initPid }) => initPid() ?? []));
      this.#size = { bytes: named.bytes + unlinked, files: named.files };
      this.#disk = disk;
      this.#isFull = tooDeep || exceeds(this.#size, this.#largest);
    } finally {
      this.#measuredAt = performance.now();
      this.#tookMs = this.#measuredAt - began;
    }
    storeSize(directory, this.#size);
    if (before?.bytes !== this.#size.bytes || before.files !== this.#size.files) grown();
    if (this.#isFull) for (const { full } of this.#programs) full();
  }

  #diskUse(): Size {
    const { bsize, blocks, bfree, files, ffree } = statfsSync(this.#set.directory);
    return { bytes: bsize * (blocks - bfree), files: files - ffree };
  }
}
