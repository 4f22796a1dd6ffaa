import { setImmediate as nextTurn } from 'node:timers/promises';
import { ExecError, type ExecParsedParams } from '../../protocol/index.js';
import type { ServerLog } from '../log.js';

/** How long requests in progress may hold up an upgrade. Their connections are then cut; programs continue. */
const REST_LIMIT_MS = 2_000;
/** How long clients that are just connecting may hold it up. Meanwhile, all others are served. */
const GREETING_LIMIT_MS = 1_000;

type UpgradeRequest = ExecParsedParams<'server/upgrade'>;

/** Puts another server in the place of this one; see `KeeperLink`. */
export interface Succession {
  /** How many servers there have been, with this one. */
  readonly generation: number;
  /** Why the last upgrade failed, if this server continues in the place of one that could not. */
  readonly failedUpgrade: string | undefined;
  /** Starts the successor beside this server. Resolves when it could take over, or why it cannot. */
  prepare(request: {
    readonly arguments: readonly string[] | undefined;
    readonly program: string | undefined;
  }): Promise<{ readonly generation: number } | { readonly reason: string }>;
  /** The successor is not wanted after all. */
  dismiss(): void;
  /** Ends this process, whose place the successor takes. */
  leave(): void;
}

export interface UpgradesOptions {
  readonly succession: Succession;
  readonly log: ServerLog;
  /** Begins with no more clients. Resolves when all it had begun with are connected or refused. */
  readonly restDoors: () => Promise<unknown>;
  /** Reads and sends nothing more. Resolves when everything is answered that must be. */
  readonly rest: () => Promise<unknown>;
  /** Whether all connections rest now. */
  readonly isAtRest: () => boolean;
  /** Called right before the end: leaves to the successor what it can continue with. */
  readonly handOver: () => void;
}

/** Replaces the running server, on request. */
export class Upgrades {
  readonly #options: UpgradesOptions;
  #isUnderWay = false;

  constructor(options: UpgradesOptions) {
    this.#options = options;
  }

  get status(): { generation: number; failedUpgrade?: string } {
    const { generation, failedUpgrade } = this.#options.succession;
    return failedUpgrade === undefined ? { generation } : { generation, failedUpgrade };
  }

  /** Nothing has changed if it throws. Once it has returned, there is no way back. */
  async upgrade({ arguments: line, program, dryRun }: UpgradeRequest): Promise<{ generation: number }> {
    const { succession, log } = this.#options;
    if (this.#isUnderWay) throw refused('another upgrade is under way');
    if (program != null && !program.startsWith('/')) throw refused('its path is not absolute');
    this.#isUnderWay = true;
    try {
      const request = { arguments: line ?? undefined, program: program ?? undefined };
      const prepared = await succession.prepare(request);
      if ('reason' in prepared) throw refused(prepared.reason);
      log.info({ generation: prepared.generation, dryRun: dryRun === true }, 'a successor is prepared');
      if (dryRun) {
        succession.dismiss();
        this.#isUnderWay = false;
        // The answer leaves first.
      } else setImmediate(() => void this.#leave());
      return { generation: prepared.generation };
    } catch (error) {
      this.#isUnderWay = false;
      throw error;
    }
  }

  async #leave(): Promise<void> {
    const { restDoors, handOver, succession } = this.#options;
    await within(GREETING_LIMIT_MS, restDoors());
    await this.#allRest();
    handOver();
    succession.leave();
  }

  /**
   * One connection may have something to send again, or have been made, while others come to rest: at the moment of the
   * handover, all of them have to.
   */
  async #allRest(): Promise<void> {
    const { rest, isAtRest } = this.#options;
    const deadline = performance.now() + REST_LIMIT_MS;
    for (;;) {
      await within(deadline - performance.now(), rest());
      if (isAtRest() || performance.now() >= deadline) return;
      await nextTurn();
    }
  }
}

/** Settles when that has, or the time is up. */
function within(ms: number, task: Promise<unknown>): Promise<unknown> {
  return Promise.race([task, new Promise((resolve) => setTimeout(resolve, ms))]);
}

function refused(reason: string): ExecError {
  return new ExecError('upgradeRefused', `The new server could not take over: ${reason}.`);
}
