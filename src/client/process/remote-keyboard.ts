import type { KeyboardNews, ProcessKeyboard, TerminalSize } from '../../contract/index.js';
import { type ExecParams, execServerNotifications } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';

type Action = ExecParams<'process/keyboard'>['action'];

/** What a process that others use, too, has besides its output: a keyboard, and a size that others may change. */
export class RemoteKeyboard implements ProcessKeyboard {
  readonly #client: ExecClient;
  readonly #processId: string;
  readonly #listeners = new Set<(news: KeyboardNews) => void>();
  readonly #sizeListeners = new Set<(size: TerminalSize) => void>();
  #stop: (() => void) | undefined;
  #holds = false;
  /** How often the server has said who has it. */
  #reports = 0;
  /** Whether the server has been told that we know of the keyboard. */
  #isKnown = false;

  constructor(client: ExecClient, processId: string) {
    this.#client = client;
    this.#processId = processId;
  }

  get holds(): boolean {
    return this.#holds;
  }

  /**
   * Begins to listen. Returns what to call with the answer that says whether we have it. What the server has reported
   * since then is newer, although it is seen first.
   */
  expectAnswer(): (holds: boolean | undefined) => void {
    this.#listen();
    const reports = this.#reports;
    return (holds) => {
      this.#isKnown ||= holds !== undefined;
      if (holds !== undefined && this.#reports === reports) this.#set(holds);
    };
  }

  #listen(): void {
    this.#stop ??= this.#client.listen({
      notified: (method, params) => this.#notified(method, params),
      // Somebody may have taken it meanwhile.
      online: () => {
        if (this.#isKnown) this.#call('look').catch(() => undefined);
      },
    });
  }

  end(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#listeners.clear();
    this.#sizeListeners.clear();
  }

  async take(): Promise<void> {
    await this.#call('take');
  }

  async ask(): Promise<boolean> {
    return await this.#call('ask');
  }

  async give(to?: number): Promise<void> {
    await this.#call('give', to);
  }

  watch(listener: (news: KeyboardNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watchSize(listener: (size: TerminalSize) => void): () => void {
    this.#sizeListeners.add(listener);
    return () => this.#sizeListeners.delete(listener);
  }

  async #call(action: Action, to?: number): Promise<boolean> {
    if (!this.#client.serverCapabilities.viewers) throw unsupported('a keyboard that clients hand over');
    const answered = this.expectAnswer();
    this.#isKnown = true;
    const params = { processId: this.#processId, action };
    const { holds } = await this.#client.call(
      'process/keyboard',
      to === undefined ? params : { ...params, to },
    );
    answered(holds);
    return this.#holds;
  }

  #notified(method: string, params: unknown): void {
    if (method === 'process/keyboardAsked') {
      const { processId, by } = execServerNotifications[method].params.parse(params);
      if (processId === this.#processId) this.#tell({ type: 'asked', by });
    } else if (method === 'process/keyboardChanged') {
      const { processId, holds } = execServerNotifications[method].params.parse(params);
      if (processId !== this.#processId) return;
      this.#reports += 1;
      this.#set(holds);
    } else if (method === 'process/resized') {
      const { processId, size } = execServerNotifications[method].params.parse(params);
      if (processId === this.#processId) for (const listener of [...this.#sizeListeners]) listener(size);
    }
  }

  #set(holds: boolean): void {
    if (holds === this.#holds) return;
    this.#holds = holds;
    this.#tell({ type: 'changed', holds });
  }

  #tell(news: KeyboardNews): void {
    for (const listener of [...this.#listeners]) listener(news);
  }
}
