import { existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { makePrivateDirectory } from './private-directory.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';

/** What a directory, three files and their names take. */
export const FIXED_BYTES = 16 * 1024;

export interface OutputDirectoryOptions {
  readonly path: string;
  /** Whose share of the quota this is. */
  readonly owner: SpoolOwner;
  readonly quota: SpoolQuota;
  /** Makes sure that the spool is there. Throws if it cannot be used. */
  readonly prepare: () => void;
}

/** The directory with the output of one process. It is made when there is something to put into it. */
export class OutputDirectory {
  readonly #options: OutputDirectoryOptions;
  #exists = false;

  constructor(options: OutputDirectoryOptions) {
    this.#options = options;
  }

  get exists(): boolean {
    return this.#exists;
  }

  /** Uses what an earlier server left. Returns false if that is nothing. */
  takeOver(): boolean {
    this.#exists = existsSync(this.#options.path);
    return this.#exists;
  }

  /** Makes it, unless it exists. Then `fill` writes what everything in it starts with. */
  create(fill: () => void): void {
    if (this.#exists) return;
    const { path, owner, quota, prepare } = this.#options;
    prepare();
    quota.grow(owner, FIXED_BYTES);
    makePrivateDirectory(path);
    this.#exists = true;
    fill();
  }

  /** Deletes it, and returns what it had of the quota. */
  remove(): void {
    const { path, owner, quota } = this.#options;
    quota.release(owner);
    if (this.#exists) rmSync(path, { recursive: true, force: true });
  }

  /** Deletes it without waiting. Its part of the quota is returned already. */
  removeLater(): void {
    void rm(this.#options.path, { recursive: true, force: true }).catch(() => undefined);
  }
}
