import { HOST_ANSWER_LIMIT_MS } from '../../protocol/host-questions.js';
import type { Decision, NetworkRequest } from './gate.js';

/** What somebody says about a host; null: nobody has answered. */
export type HostAnswer = 'once' | 'session' | 'deny' | null;

/** Puts a request to whoever decides. Once `signal` is aborted, nobody waits for the answer any more. */
export type AskAboutHost = (request: NetworkRequest, signal: AbortSignal) => Promise<HostAnswer>;

/** Questions of one owner at a time. Nobody answers more of them, so further hosts are denied. */
const MAX_QUESTIONS = 64;

/** Hosts that one owner allowed for good. The one allowed first is asked about again. */
const MAX_REMEMBERED = 1_000;

const UNANSWERED: Decision = { type: 'deny', reason: 'unanswered' };
const DECLINED: Decision = { type: 'deny', reason: 'declined' };

/** What the owner of some programs has said about hosts, and what they are being asked. */
export class HostAnswers {
  readonly #allowed = new Set<string>();
  #questions = 0;

  /** A decider for one program. It asks about a host once at a time, and not again after a refusal. */
  decider(ask: AskAboutHost): (request: NetworkRequest, signal: AbortSignal) => Promise<Decision> {
    const asking = new Map<string, Promise<Decision>>();
    const declined = new Set<string>();
    return async (request, signal) => {
      const { host } = request;
      if (this.#allowed.has(host)) return { type: 'allow' };
      if (declined.has(host)) return DECLINED;
      const known = asking.get(host);
      if (known) return await known;
      const decision = this.#ask((end) => ask(request, end), { host, signal });
      asking.set(host, decision);
      const decided = await decision;
      asking.delete(host);
      if (decided === DECLINED && declined.size < MAX_REMEMBERED) declined.add(host);
      return decided;
    };
  }

  async #ask(ask: Ask, { host, signal }: { host: string; signal: AbortSignal }): Promise<Decision> {
    if (this.#questions >= MAX_QUESTIONS) return UNANSWERED;
    this.#questions += 1;
    const answer = await withinLimit(ask, signal).catch(() => null);
    this.#questions -= 1;
    if (answer === 'session') this.#remember(host);
    if (answer === 'session' || answer === 'once') return { type: 'allow' };
    return answer === 'deny' ? DECLINED : UNANSWERED;
  }

  #remember(host: string): void {
    this.#allowed.add(host);
    if (this.#allowed.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#allowed) {
      this.#allowed.delete(oldest);
      break;
    }
  }
}

type Ask = (end: AbortSignal) => Promise<HostAnswer>;

/** Null if there is no answer in time, or before `signal`. */
async function withinLimit(ask: Ask, signal: AbortSignal): Promise<HostAnswer> {
  signal.throwIfAborted();
  const end = new AbortController();
  const over = (): void => end.abort();
  const limit = setTimeout(over, HOST_ANSWER_LIMIT_MS);
  signal.addEventListener('abort', over);
  const unanswered = new Promise<null>((settle) => {
    end.signal.addEventListener('abort', () => settle(null));
  });
  try {
    return await Promise.race([ask(end.signal), unanswered]);
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', over);
  }
}
