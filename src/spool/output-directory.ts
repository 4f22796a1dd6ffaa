import { existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { makePrivateDirectory } from './private-directory.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';

/** The disk space of a directory, three files and their names. */
export const FIXED_BYTES = 16 * 1024;

export interface OutputDirectoryOptions {
  readonly path: string;
  /** The owner of this share of the quota. */
  readonly owner: SpoolOwner;
  readonly quota: SpoolQuota;
  /** Makes sure that the spool exists. Throws if it cannot be used. */
  readonly prepare: () => void;
}

/** The directory with the output of one process. It is created when there is something to put into it. */
export class OutputDirectory {
  readonly #options: OutputDirectoryOptions;
  #exists = false;

  constructor(options: OutputDirectoryOptions) {
    this.#options = options;
  }

  get exists(): boolean {
    return this.#exists;
  }

  /** Takes over what an earlier server left. Returns false if there is nothing. */
  takeOver(): boolean {
    this.#exists = existsSync(this.#options.path);
    return this.#exists;
  }

  /** Creates it, unless it exists, and calls `fill` for its first content. */
  create(fill: () => void): void {
    if (this.#exists) return;
    const { path, owner, quota, prepare } = this.#options;
    prepare();
    quota.grow(owner, FIXED_BYTES);
    makePrivateDirectory(path);
    this.#exists = true;
    fill();
  }

  /** Deletes it, and returns its share of the quota. */
  remove(): void {
    const { path, owner, quota } = this.#options;
    quota.release(owner);
    if (this.#exists) rmSync(path, { recursive: true, force: true });
  }

  /** Deletes it without waiting. Its share of the quota is returned at once. */
  removeLater(): void {
    void rm(this.#options.path, { recursive: true, force: true }).catch(() => undefined);
  }
}
