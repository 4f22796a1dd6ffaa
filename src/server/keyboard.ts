import { ExecError } from '../protocol/index.js';

/** A client that may type to a kept process, or only views it. */
export interface Typist {
  /** Identifies it among the clients of the process. */
  readonly number: number;
  /** `view`: it may never type. `implicit`: it knows of no keyboard, so it takes it by typing. */
  access: 'explicit' | 'implicit' | 'view';
  isConnected(): boolean;
  keyboardAsked(by: number): void;
  keyboardChanged(holds: boolean): void;
}

/** Who types to a kept process: one client at a time. A client without a connection does not keep it from others. */
export class Keyboard {
  #holder: Typist | undefined;

  /** No connected client has it. */
  get isFree(): boolean {
    return this.#holder?.isConnected() !== true;
  }

  isHeldBy(typist: Typist): boolean {
    return this.#holder === typist;
  }

  take(typist: Typist): void {
    requireMayType(typist);
    this.#passTo(typist);
  }

  /** Returns whether it has the keyboard. If not, the client that has it is notified. */
  ask(typist: Typist): boolean {
    requireMayType(typist);
    if (this.isFree) this.#passTo(typist);
    else if (!this.isHeldBy(typist)) this.#holder?.keyboardAsked(typist.number);
    return this.isHeldBy(typist);
  }

  /** Gives it up, in favour of another client if one is named. */
  give(typist: Typist, to?: Typist): void {
    if (!this.isHeldBy(typist) || to === typist) return;
    if (to) requireMayType(to);
    this.#holder = undefined;
    typist.keyboardChanged(false);
    if (to) this.#passTo(to);
  }

  /** The client has stopped using the process. */
  leave(typist: Typist): void {
    if (this.isHeldBy(typist)) this.#holder = undefined;
  }

  /** Throws unless the client may type now. */
  require(typist: Typist): void {
    if (this.isHeldBy(typist)) return;
    requireMayType(typist);
    if (!this.isFree && typist.access === 'explicit')
      throw new ExecError(
        'keyboardElsewhere',
        'Another client types to this process. Take the keyboard, or ask for it.',
      );
    this.#passTo(typist);
  }

  #passTo(typist: Typist): void {
    const before = this.#holder;
    if (before === typist) return;
    this.#holder = typist;
    before?.keyboardChanged(false);
    typist.keyboardChanged(true);
  }
}

/** Throws if the client only views. */
export function requireMayType({ access }: Pick<Typist, 'access'>): void {
  if (access !== 'view') return;
  throw new ExecError(
    'viewOnly',
    'This client can only view the process. Attach without `view` to change it.',
  );
}
