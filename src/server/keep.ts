import { abandonStart, type LocalProcess, processIdInUse, type SetAside } from '../host/index.js';
import { ExecError, type Lease, type Sandbox } from '../protocol/index.js';
import { EndedProcesses } from './ended-processes.js';
import { KeptProcess } from './kept-process.js';
import { KeptRoom, type KeptRoomOptions, type KeptSpec, type TakenLease } from './kept-room.js';
import type { ServerLog } from './log.js';

/** Processes with a lease that a server runs at a time. */
export const DEFAULT_MAX_KEPT_PROCESSES = 1024;
/** People type these ids. */
const MAX_ID_CHARS = 128;

export interface KeepOptions extends KeptRoomOptions {
  readonly maxKeptProcesses?: number | undefined;
  readonly log: ServerLog;
}

/**
 * The processes that outlive their sessions. Ids are unique per principal, so that nobody learns of the processes of
 * others, not even from a refusal.
 */
export class Keep {
  readonly #options: KeepOptions;
  readonly #rooms = new Map<string, KeptRoom>();
  readonly #ended = new EndedProcesses();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: KeepOptions) {
    this.#options = options;
  }

  find(principal: string, processId: string): KeptProcess | undefined {
    return this.#rooms.get(principal)?.get(processId);
  }

  all(principal: string): KeptProcess[] {
    return this.#rooms.get(principal)?.all() ?? [];
  }

  /** See `ProcessTable`. */
  ownerOf(principal: string, treeId: number): string | null | undefined {
    return this.#rooms.get(principal)?.table.ownerOf(treeId);
  }

  /** A process that others view and that ends with its session, so it is not kept here. */
  show(process: LocalProcess, owner: string): KeptProcess {
    return new KeptProcess(process, {
      owner,
      lease: 'session',
      expired: () => undefined,
      renderer: this.#options.renderer,
      retainedBytes: this.#options.table.retainedBytes,
    });
  }

  /** Spawns immediately. A failed start leaves everything as it was. */
  start(principal: string, spec: KeptSpec, lease: Lease): KeptProcess {
    const { room, earlier } = this.#admit(principal, spec);
    try {
      const kept = this.#add(principal, room, room.table.start(spec), { lease });
      earlier?.forget();
      return kept;
    } catch (error) {
      earlier?.restore();
      throw error;
    } finally {
      this.#removeIfEmpty(principal, room);
    }
  }

  /** Like `start`, for a sandboxed process. Its output is held from the first byte on. */
  async startConfined(
    principal: string,
    spec: KeptSpec,
    { lease, sandbox }: { lease: Lease; sandbox: Sandbox },
  ): Promise<KeptProcess> {
    const { room, earlier } = this.#admit(principal, spec);
    room.starting.add(spec.processId);
    try {
      const kept = this.#add(principal, room, await room.table.startConfined(spec, sandbox), { lease });
      earlier?.forget();
      return kept;
    } catch (error) {
      earlier?.restore();
      throw error;
    } finally {
      room.starting.delete(spec.processId);
      this.#removeIfEmpty(principal, room);
    }
  }

  /** Continues with a process that an earlier server started. */
  adopt(principal: string, spec: KeptSpec, lease: TakenLease): void {
    const room = this.#room(principal);
    this.#add(principal, room, room.table.start(spec), lease);
  }

  /** What a forgotten process of an earlier server left running ends with this principal's processes. */
  addTree(principal: string, treeId: number): () => void {
    return this.#room(principal).table.addTree(treeId);
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    this.#closed = true;
    const rooms = [...this.#rooms.values()];
    this.#rooms.clear();
    this.#ended.clear();
    for (const room of rooms) for (const kept of room.all()) kept.forget();
    await Promise.allSettled([...rooms.map(({ table }) => table.close()), ...this.#ending]);
  }

  #admit(principal: string, spec: KeptSpec): { room: KeptRoom; earlier: SetAside | undefined } {
    try {
      const earlier = this.#requireRoom(principal, spec.processId);
      const room = this.#room(principal);
      return { room, earlier: earlier && this.#setAside(principal, room, earlier) };
    } catch (error) {
      abandonStart(spec);
      throw error;
    }
  }

  /** Returns the ended process that has the id. */
  #requireRoom(principal: string, processId: string): KeptProcess | undefined {
    if (this.#closed) throw new ExecError('sessionNotFound', 'The server is shutting down.');
    if (processId === '' || processId.length > MAX_ID_CHARS)
      throw new ExecError(
        'invalidParams',
        `params.processId: a kept process needs 1 to ${MAX_ID_CHARS} characters`,
      );
    const earlier = this.find(principal, processId);
    const isStarting = this.#rooms.get(principal)?.starting.has(processId);
    if (isStarting || (earlier && !this.#ended.has(earlier))) throw processIdInUse(processId);
    const { maxKeptProcesses = DEFAULT_MAX_KEPT_PROCESSES } = this.#options;
    if (this.running() >= maxKeptProcesses)
      throw new ExecError(
        'tooManyKeptProcesses',
        'The server has reached its limit of kept processes. End some.',
      );
    return earlier;
  }

  /** It can be read until another process takes its id. */
  #setAside(principal: string, room: KeptRoom, earlier: KeptProcess): SetAside {
    const inTable = room.table.setAside(earlier.process);
    return {
      forget: () => {
        inTable.forget();
        this.#retire(earlier);
      },
      restore: () => {
        inTable.restore();
        if (!this.#closed) this.#ended.add(earlier, principal);
      },
    };
  }

  /** Of all clients. */
  processes(): LocalProcess[] {
    return [...this.#rooms.values()].flatMap((room) => room.all().map(({ process }) => process));
  }

  /** How many are running or being started. */
  running(): number {
    let count = -this.#ended.size;
    for (const { size } of this.#rooms.values()) count += size;
    return count;
  }

  #room(principal: string): KeptRoom {
    const known = this.#rooms.get(principal);
    if (known) return known;
    const room: KeptRoom = new KeptRoom(principal, this.#options, (kept) => {
      this.#retire(kept);
      this.#removeIfEmpty(principal, room);
    });
    this.#rooms.set(principal, room);
    return room;
  }

  #add(principal: string, room: KeptRoom, process: LocalProcess, lease: TakenLease): KeptProcess {
    const kept = room.add(process, lease, () => {
      this.#options.log.info({ process: process.processId }, 'lease expired');
      this.#end(process);
    });
    // This one started after `close` had looked.
    if (this.#closed) kept.forget();
    const look = (): boolean => {
      if (this.#closed) return true;
      if (!process.log.closed) return false;
      this.#ended.add(kept, principal);
      this.#makeRoom();
      return true;
    };
    if (look()) return kept;
    const stop = process.log.subscribe(() => {
      if (look()) stop();
    });
    return kept;
  }

  #makeRoom(): void {
    for (let next = this.#ended.surplus(); next; next = this.#ended.surplus()) this.#forget(next);
  }

  #forget(kept: KeptProcess): void {
    const room = this.#rooms.get(this.#ended.ownerOf(kept) ?? '');
    room?.table.forget(kept.process);
    this.#ended.delete(kept);
  }

  /** What it left in the background no longer has an owner. */
  #retire(kept: KeptProcess): void {
    this.#ended.delete(kept);
    kept.forget();
    this.#end(kept.process);
  }

  #removeIfEmpty(principal: string, room: KeptRoom): void {
    if (room.size > 0 || this.#rooms.get(principal) !== room) return;
    this.#rooms.delete(principal);
    this.#await(room.table.close());
  }

  /** Ends the whole tree. */
  #end(process: LocalProcess): void {
    this.#await(process.kill());
  }

  /** Closing waits for it. */
  #await(ending: Promise<void>): void {
    const settled = ending.catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ reason }, 'a kept process did not end cleanly');
    });
    this.#ending.add(settled);
    void settled.then(() => this.#ending.delete(settled));
  }
}
