import type { DurableState } from '../durable/durable-state.js';
import { requireMayType } from '../keyboard.js';
import type { KeptClient, KeptProcess } from '../kept-process.js';
import type { PushTarget } from '../push/output-pusher.js';
import { type AttachOptions, keptClient } from './kept-client.js';
import type { Pushers } from './pushers.js';

/** A kept process, and what the session is to it. */
export interface KeptUse {
  readonly kept: KeptProcess;
  readonly client: KeptClient;
}

export interface KeptUsesOptions {
  readonly sessionId: string;
  readonly pushers: Pushers;
  readonly durable: DurableState | undefined;
  readonly target: () => PushTarget | undefined;
  /** Called when the session no longer uses a process, to drop what it knows about it. */
  readonly forget: (processId: string) => void;
}

/** The kept processes a session uses. Others own them. */
export class KeptUses {
  readonly #options: KeptUsesOptions;
  readonly #uses = new Map<string, KeptUse>();

  constructor(options: KeptUsesOptions) {
    this.#options = options;
  }

  get(processId: string): KeptUse | undefined {
    return this.#uses.get(processId);
  }

  all(): KeptProcess[] {
    return [...this.#uses.values()].map(({ kept }) => kept);
  }

  /** Whether another server knows of all of them. */
  get canBeLeft(): boolean {
    return [...this.#uses.values()].every(({ kept }) => kept.lease !== 'session');
  }

  /** Uses a process that is not used yet. */
  attach(kept: KeptProcess, options: AttachOptions): void {
    const { pushers, target } = this.#options;
    const { afterSeq, hasScreen = false, keyboard } = options;
    const { processId } = kept.process;
    const pusher = pushers.open(kept.process, { afterSeq, paces: false, skipsWhenBehind: hasScreen });
    const client = keptClient({
      kept,
      pusher,
      attach: options,
      target,
      keyboardChanged: (each) => this.#note(kept, each, options),
      forgotten: () => this.#letGo(processId),
    });
    this.#uses.set(processId, { kept, client });
    this.#note(kept, client, options);
    // The answer goes first: it says where the numbers begin.
    pushers.beginSoon(processId, pusher);
    kept.attach(client);
    if (keyboard === 'take') kept.keyboard.take(client);
    else if (keyboard === 'ifFree' && kept.keyboard.isFree) kept.keyboard.take(client);
  }

  /** Stops using a process, which continues to run. */
  detach(processId: string): void {
    const use = this.#letGo(processId);
    use?.kept.letGo(use.client);
  }

  detachAll(): void {
    for (const processId of [...this.#uses.keys()]) this.detach(processId);
  }

  /** Throws unless the session may type to the process. To its own, it always may. */
  requireKeyboard(processId: string): void {
    const use = this.#uses.get(processId);
    use?.kept.keyboard.require(use.client);
  }

  /** Throws if the session only views the process. */
  requireControl(processId: string): void {
    const use = this.#uses.get(processId);
    if (use) requireMayType(use.client);
  }

  /** For the server that comes after us. */
  #note(kept: KeptProcess, client: KeptClient, options: AttachOptions): void {
    const { durable, sessionId } = this.#options;
    const { processId } = kept.process;
    if (!durable || options.share || kept.lease === 'session' || this.#uses.get(processId)?.client !== client)
      return;
    const { mayPause, keyboard = null, hasScreen = false } = options;
    durable.noteUse({
      session: sessionId,
      processId,
      owner: kept.owner,
      number: client.number,
      mayPause,
      keyboard: client.access === 'explicit' ? (keyboard ?? 'none') : keyboard,
      hasScreen,
      holds: kept.keyboard.isHeldBy(client),
    });
  }

  #letGo(processId: string): KeptUse | undefined {
    const use = this.#uses.get(processId);
    if (!use) return undefined;
    const { durable, sessionId, forget } = this.#options;
    this.#uses.delete(processId);
    use.kept.process.keeping?.leftBy(sessionId);
    durable?.forgetUse({ session: sessionId, processId });
    forget(processId);
    return use;
  }
}
