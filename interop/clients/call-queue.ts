import type { Script, ScriptedCall } from './scripted-model.js';

interface Waiting {
  readonly call: ScriptedCall;
  readonly answer: (report: string) => void;
}

/** Lets plain functions make the calls of a scripted model: each call waits for what the client reports about it. */
export class CallQueue {
  readonly #waiting: Waiting[] = [];
  #wake = (): void => undefined;

  call(call: ScriptedCall): Promise<string> {
    return new Promise((answer) => {
      this.#waiting.push({ call, answer });
      this.#wake();
    });
  }

  /** The script of a model that makes these calls until `work` is done. */
  async *script(work: () => Promise<void>): Script {
    let over = false;
    const running = work().finally(() => {
      over = true;
      this.#wake();
    });
    running.catch(() => undefined);
    for (;;) {
      const next = this.#waiting.shift();
      if (next) next.answer(yield next.call);
      else if (over) break;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    await running;
    return 'done';
  }
}
