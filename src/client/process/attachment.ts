import type { AttachOptions, TerminalScreen } from '../../contract/index.js';
import type { ExecParams, ExecResult } from '../../protocol/index.js';
import { decodeBase64 } from '../../protocol/base64.js';
import type { ExecClient } from '../connection/exec-client.js';
import { RemoteKeyboard } from './remote-keyboard.js';

type Attached = ExecResult<'process/attach'>;

/** How a client uses a process that others may use as well: its keyboard, and its screen when we joined. */
export class Attachment {
  readonly keyboard: RemoteKeyboard;
  readonly #client: ExecClient;
  readonly #processId: string;
  readonly #options: AttachOptions;
  #screen: TerminalScreen | null = null;

  constructor(client: ExecClient, processId: string, options: AttachOptions) {
    this.keyboard = new RemoteKeyboard(client, processId);
    this.#client = client;
    this.#processId = processId;
    this.#options = options;
  }

  get screen(): TerminalScreen | null {
    return this.#screen;
  }

  /** Whether output that was missed is replaced by a new screen instead of being read. */
  get leavesGaps(): boolean {
    return this.#options.screen === true;
  }

  /** Call before the server is asked. Returns what to call when it has confirmed it. */
  expect(): (answer: Attached) => void {
    const answered = this.keyboard.expectAnswer();
    return (answer) => {
      this.#screen = screenOf(answer);
      answered(answer.holds);
    };
  }

  /** Joins again, with the screen as it is now. */
  async refresh(): Promise<Attached> {
    return await this.#again({ ...this.#options, screen: true });
  }

  /** Joins again in a new session, after what was seen. */
  async rejoin(afterSeq: number): Promise<void> {
    const { tail: _tail, screen: _screen, fromEnd: _fromEnd, ...manner } = this.#options;
    await this.#again({ ...manner, afterSeq });
  }

  async #again(options: AttachOptions): Promise<Attached> {
    const params = attachParams(this.#processId, { ...options, ...this.#keyboardAgain() });
    const confirmed = this.expect();
    const answer = await this.#client.call('process/attach', params, { sameSession: true });
    confirmed(answer);
    return answer;
  }

  /** Attaching again leaves the keyboard where it is. */
  #keyboardAgain(): Pick<AttachOptions, 'keyboard'> {
    const { keyboard } = this.#options;
    if (this.keyboard.holds) return { keyboard: 'ifFree' };
    return keyboard === 'take' || keyboard === 'ifFree' ? { keyboard: 'none' } : {};
  }
}

export function attachParams(processId: string, options: AttachOptions): ExecParams<'process/attach'> {
  return { processId, ...options, fromEnd: options.fromEnd ?? false };
}

function screenOf({ screen, afterSeq }: Attached): TerminalScreen | null {
  if (!screen) return null;
  const { chunk, size, alternate } = screen;
  return { size, alternate, afterSeq, bytes: decodeBase64(chunk, 'protocolViolation') };
}
