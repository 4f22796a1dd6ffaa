import { anthropicTools, resultText, Toolbox } from '../../dist/tools/index.js';
import { Ledger, tokensOf } from './ledger.mjs';

/** The tools under test, each call on the books. */
export class OurTools {
  ledger = new Ledger();
  #toolbox;

  constructor(environment, { home }) {
    this.#toolbox = new Toolbox(environment, { env: { HOME: home } });
  }

  get definitionTokens() {
    return tokensOf(JSON.stringify(anthropicTools(this.#toolbox.tools)));
  }

  /** The text as a model reads it, and what programs read beside it. A tool error ends the task. */
  async call(name, args) {
    return await this.ledger.call(name, args, async () => {
      const result = await this.#toolbox.call(name, args);
      if (result.isError) throw new Error(`${name}: ${result.text}`);
      return { text: resultText(result), ...result.structured };
    });
  }

  async close() {
    await this.#toolbox.close();
  }
}
