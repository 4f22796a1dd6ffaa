import { type BigIntStats, closeSync, fstatSync } from 'node:fs';
import { openExactly } from '../plan/exact-path.js';
import { openPipe } from '../../kernel/index.js';
import type { Mount, MountPlan } from '../plan/mount-plan.js';
import { type FileView, hostView } from '../plan/file-view.js';
import { holdPlaceholder, type Placeholder } from '../plan/placeholder.js';
import type { Protection } from '../launch/protection.js';
import { openProcessLimit, type ProcessGroupLimit } from './process-limit.js';
import { SandboxStatus } from '../launch/status.js';

/** Far more than policies name; the rest of a long list of patterns is mounted by path. */
const MAX_SOURCES = 128;

/** What one confinement holds: descriptors until the start, placeholders until the end. */
export class Resources {
  readonly inheritFds: { childFd: number; fd: number }[] = [];
  #placeholders: Placeholder[] = [];
  readonly #sources = new Map<string, number>();
  #limit: ProcessGroupLimit | undefined;
  #protection: Protection | null = null;
  #released = false;
  readonly #view: FileView;

  /** `view`: where placeholders are made. */
  constructor(view: FileView = hostView) {
    this.#view = view;
  }

  /** Drops mounts whose placeholder we may not create: nobody inside can create it either. */
  holdPlaceholders(plan: MountPlan): MountPlan {
    // Placeholders of an earlier plan are released last, so that a name both plans block is never free in between.
    const before = this.#placeholders;
    this.#placeholders = [];
    const needless = plan.placeholders.filter((path) => {
      const placeholder = holdPlaceholder(path, this.#view);
      if (placeholder) this.#placeholders.push(placeholder);
      return placeholder === null;
    });
    for (const placeholder of before) placeholder.release();
    return { ...plan, mounts: plan.mounts.filter(({ path }) => !needless.includes(path)) };
  }

  /** Opens what will be mounted, by path, and returns the descriptor numbers in the child. */
  openSources(mounts: readonly Mount[], firstChildFd: number): ReadonlyMap<string, number> {
    const bound = mounts
      .filter(({ kind }) => kind === 'readOnly' || kind === 'writable')
      .slice(0, MAX_SOURCES);
    return new Map(
      bound.map(({ path }, index) => {
        const fd = openExactly(path);
        this.inheritFds.push({ childFd: firstChildFd + index, fd });
        this.#sources.set(path, fd);
        return [path, firstChildFd + index];
      }),
    );
  }

  /** What will be mounted at a path, even if something else is there by now. */
  opened({ path }: Mount): BigIntStats | undefined {
    const fd = this.#sources.get(path);
    return fd === undefined ? undefined : fstatSync(fd, { bigint: true });
  }

  /** The prefix to put before bubblewrap. */
  limit(maxProcesses: number): readonly string[] {
    this.#limit = openProcessLimit(maxProcesses);
    return this.#limit.prefix;
  }

  /** Passes a descriptor on and takes ownership. */
  pass(childFd: number, fd: number): void {
    this.inheritFds.push({ childFd, fd });
  }

  openStatus(childFd: number, options: { terminal: boolean }): SandboxStatus {
    const { readEnd, writeEnd } = openPipe();
    this.inheritFds.push({ childFd, fd: writeEnd });
    return this.belongTo(new SandboxStatus(readEnd, options));
  }

  /** They are freed when nothing is left of the sandbox. */
  belongTo(status: SandboxStatus): SandboxStatus {
    void status.ended.then(() => this.cleanUp());
    return status;
  }

  guard(protection: Protection | null): void {
    this.#protection = protection;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    for (const { fd } of this.inheritFds) closeSync(fd);
  }

  cleanUp(): void {
    this.#protection?.close();
    for (const placeholder of this.#placeholders) placeholder.release();
    this.#limit?.release();
  }
}
