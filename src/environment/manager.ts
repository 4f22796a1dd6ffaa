import type { Environment } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import {
  assertEnvironmentId,
  type EnvironmentConfig,
  type EnvironmentsConfig,
  LOCAL_ID,
} from './configuration.js';

/** Each may hold a connection, or a program that provides one. */
const MAX_ENVIRONMENTS = 1024;

/** The state of an environment. Querying it never connects. */
export type EnvironmentStatus =
  | { readonly status: 'ready' }
  /** Configured but not needed yet, or still connecting. */
  | { readonly status: 'pending' }
  | { readonly status: 'disconnected'; readonly error: string }
  | { readonly status: 'unknown'; readonly error: string };

/** Opens an environment; throws if it cannot be reached. */
export type OpenEnvironment = (
  config: EnvironmentConfig | { readonly id: typeof LOCAL_ID },
) => Promise<Environment>;

interface Slot {
  readonly config: EnvironmentConfig | { readonly id: typeof LOCAL_ID };
  opening: Promise<Environment> | undefined;
  environment: Environment | undefined;
  failure: Error | undefined;
}

/** All known environments: each is connected on first use, and again after it was lost. */
export class EnvironmentManager implements AsyncDisposable {
  readonly defaultId: string | null;
  readonly #slots = new Map<string, Slot>();
  readonly #open: OpenEnvironment;

  constructor(config: EnvironmentsConfig, options: { open: OpenEnvironment }) {
    this.#open = options.open;
    this.defaultId = config.defaultId;
    if (config.includeLocal) this.#place({ id: LOCAL_ID });
    for (const entry of config.environments) this.#place(entry);
  }

  get ids(): string[] {
    return [...this.#slots.keys()];
  }

  config(id: string): EnvironmentConfig | { readonly id: typeof LOCAL_ID } | undefined {
    return this.#slots.get(id)?.config;
  }

  /** Returns the environment with this id, or the default one. Fails with the reason; nothing is ever substituted. */
  async get(id: string | null = this.defaultId): Promise<Environment> {
    if (id === null) throw new ExecError('environmentNotFound', 'There is no default environment; name one.');
    const slot = this.#slots.get(id);
    if (!slot) throw unknown(id);
    if (slot.environment && !isLost(slot.environment)) return slot.environment;
    slot.opening ??= this.#connect(slot).finally(() => {
      slot.opening = undefined;
    });
    return await slot.opening;
  }

  status(id: string): EnvironmentStatus {
    const slot = this.#slots.get(id);
    if (!slot) return { status: 'unknown', error: unknown(id).message };
    if (slot.opening) return { status: 'pending' };
    if (slot.failure) return { status: 'disconnected', error: slot.failure.message };
    if (!slot.environment) return { status: 'pending' };
    return isLost(slot.environment)
      ? { status: 'disconnected', error: `The connection to environment "${id}" was lost.` }
      : { status: 'ready' };
  }

  /** Adds an environment, or replaces and closes the one with the same id. */
  async add(config: EnvironmentConfig): Promise<void> {
    assertEnvironmentId(config.id);
    const previous = this.#slots.get(config.id);
    if (!previous && this.#slots.size >= MAX_ENVIRONMENTS)
      throw new ExecError('overloaded', `At most ${MAX_ENVIRONMENTS} environments can be known at a time.`);
    this.#place(config);
    // One that is still connecting is closed once connected; nothing has to wait for that.
    if (previous?.opening) void closeSlot(previous).catch(() => undefined);
    else await previous?.environment?.close();
  }

  async close(): Promise<void> {
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    await Promise.all(slots.map(closeSlot));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #place(config: Slot['config']): void {
    this.#slots.set(config.id, { config, opening: undefined, environment: undefined, failure: undefined });
  }

  async #connect(slot: Slot): Promise<Environment> {
    const { id } = slot.config;
    try {
      await slot.environment?.close();
      slot.environment = await this.#open(slot.config);
      slot.failure = undefined;
      return slot.environment;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      slot.environment = undefined;
      slot.failure = new ExecError('notConnected', `Environment "${id}" cannot be reached: ${reason}`, {
        data: { environmentId: id },
        cause,
      });
      throw slot.failure;
    }
  }
}

async function closeSlot(slot: Slot): Promise<void> {
  await slot.opening?.catch(() => undefined);
  await slot.environment?.close();
}

function isLost(environment: Environment): boolean {
  return environment.lost === true;
}

function unknown(id: string): ExecError {
  return new ExecError('environmentNotFound', `No environment "${id.slice(0, 64)}" is configured.`, {
    data: { environmentId: id.slice(0, 64) },
  });
}
