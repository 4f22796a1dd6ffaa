import { randomBytes } from 'node:crypto';
import type { PublicKey } from '../public-key.js';
import type { MachineLine } from './machine-line.js';
import { Refusal } from './refusal.js';
import type { TokenBearer } from './registry-tokens.js';
import { digestOf, newSecret } from './secret.js';

/** How long a registration is valid without a connection. Codex's executors dial at least twice in that time. */
const LAPSE_MS = 120_000;
/** Per environment: its machine, one that takes over, and others that wait for their turn. */
const MAX_PER_ENVIRONMENT = 16;
/** Per token, however many environments it may use. */
const MAX_PER_TOKEN = 1024;

/** A machine that registers. */
export interface Newcomer {
  readonly environmentId: string;
  readonly executor: TokenBearer;
  readonly publicKey: PublicKey;
}

export interface Registration extends Newcomer {
  readonly id: string;
  /** The digest of a secret that only the machine knows. */
  readonly digest: string;
  /** Later ones take precedence. */
  readonly order: number;
  /** The connection of the machine, while there is one. */
  line: MachineLine | null;
  /** Since when there is that connection, or none. */
  sinceMs: number;
  /** Whether a later registration has taken over. */
  isSuperseded: boolean;
  lapse: NodeJS.Timeout | undefined;
}

/**
 * The registered machines. The newest registration of an environment wins as soon as its machine connects. Superseded machines
 * are told to retry later but not to register again, or two machines with the same id would evict each other forever. They
 * may register again once the winner is gone for good.
 */
export class Registrations {
  readonly #byDigest = new Map<string, Registration>();
  readonly #byEnvironment = new Map<string, Registration[]>();
  readonly #perToken = new Map<TokenBearer, number>();
  #count = 0;

  /** Returns the registration, and the secret its machine connects with. */
  add(newcomer: Newcomer): { registration: Registration; secret: string } {
    const { environmentId, executor } = newcomer;
    if ((this.#perToken.get(executor) ?? 0) >= MAX_PER_TOKEN)
      throw new Refusal(429, 'too_many_registrations', 'Too many machines are registered with this token.');
    const secret = newSecret();
    const registration: Registration = {
      ...newcomer,
      id: randomBytes(16).toString('hex'),
      digest: digestOf(secret),
      order: ++this.#count,
      line: null,
      sinceMs: performance.now(),
      isSuperseded: false,
      lapse: undefined,
    };
    const all = this.#byEnvironment.get(environmentId) ?? [];
    // Connected machines stay.
    const oldest = all.find(({ line }) => line === null);
    if (all.length >= MAX_PER_ENVIRONMENT && oldest) this.#remove(oldest);
    this.#byEnvironment.set(environmentId, [...(this.#byEnvironment.get(environmentId) ?? []), registration]);
    this.#byDigest.set(registration.digest, registration);
    this.#perToken.set(executor, (this.#perToken.get(executor) ?? 0) + 1);
    this.#touch(registration);
    return { registration, secret };
  }

  /** The registration with this secret. */
  bySecret(secret: string): Registration | undefined {
    const found = this.#byDigest.get(digestOf(secret));
    if (found) this.#touch(found);
    return found;
  }

  /** Call when the machine has connected, which supersedes all earlier registrations. */
  attach(registration: Registration, line: MachineLine): void {
    registration.line?.close('the machine has reconnected');
    registration.line = line;
    registration.sinceMs = performance.now();
    clearTimeout(registration.lapse);
    for (const other of this.#byEnvironment.get(registration.environmentId) ?? []) {
      if (other.order >= registration.order) continue;
      other.isSuperseded = true;
      other.line?.close('another machine has registered with this id');
    }
  }

  /** Call when the connection of the machine is gone. */
  detach(registration: Registration, line: MachineLine): void {
    if (registration.line !== line) return;
    registration.line = null;
    registration.sinceMs = performance.now();
    if (this.#byDigest.get(registration.digest) === registration) this.#touch(registration);
  }

  /** The connected machine with this id. */
  connected(environmentId: string): (Registration & { readonly line: MachineLine }) | undefined {
    const all = this.#byEnvironment.get(environmentId) ?? [];
    return all.find(
      (each): each is Registration & { line: MachineLine } => !each.isSuperseded && each.line !== null,
    );
  }

  /** The machine of each environment: the connected one, or the latest to have registered. */
  current(): Registration[] {
    return [...this.#byEnvironment].flatMap(([environmentId, all]) => {
      const latest = all.findLast(({ isSuperseded }) => !isSuperseded);
      return this.connected(environmentId) ?? latest ?? [];
    });
  }

  /** Removes machines that may no longer register, and disconnects clients that may no longer use theirs. */
  review(): void {
    for (const registration of [...this.#byDigest.values()]) {
      const { environmentId, executor, line } = registration;
      if (executor.may(environmentId)) {
        line?.review((client) => client.may(environmentId));
        continue;
      }
      this.#remove(registration);
      line?.close('the machine’s token is no longer valid');
    }
  }

  /** Removes all machines. */
  close(): void {
    for (const registration of [...this.#byDigest.values()]) {
      this.#remove(registration);
      registration.line?.close('the registry is shutting down');
    }
  }

  #touch(registration: Registration): void {
    clearTimeout(registration.lapse);
    if (registration.line) return;
    registration.lapse = setTimeout(() => this.#lapse(registration), LAPSE_MS).unref();
  }

  #lapse(registration: Registration): void {
    this.#remove(registration);
    if (registration.isSuperseded || this.connected(registration.environmentId)) return;
    // Its predecessors may register again.
    for (const other of this.#byEnvironment.get(registration.environmentId) ?? [])
      if (other.isSuperseded) this.#remove(other);
  }

  #remove(registration: Registration): void {
    const { environmentId, executor, digest } = registration;
    clearTimeout(registration.lapse);
    if (!this.#byDigest.delete(digest)) return;
    const others = (this.#byEnvironment.get(environmentId) ?? []).filter((each) => each !== registration);
    if (others.length > 0) this.#byEnvironment.set(environmentId, others);
    else this.#byEnvironment.delete(environmentId);
    const left = (this.#perToken.get(executor) ?? 1) - 1;
    if (left > 0) this.#perToken.set(executor, left);
    else this.#perToken.delete(executor);
  }
}
