import { ExecError } from '../../protocol/errors.js';

/** What `${…}` may contain: an argument, part of one, or an array of any number of them. */
export type TemplateValue = string | number | readonly (string | number)[];

/** Characters a shell would interpret. Nothing does here, so outside quotes they are refused instead of passed on. */
const SHELL_CHARACTERS = /[|&;<>()$`\\*?[\]{}~#!]/;

/**
 * Turns a template into an argument vector. Words are split at whitespace in the template itself, never within a value;
 * quotes keep words together. There is no shell: no variables, patterns, pipes or redirections.
 */
export function parseTemplate(strings: TemplateStringsArray, values: readonly TemplateValue[]): string[] {
  const parser = new TemplateParser();
  strings.forEach((text, index) => {
    // Undefined for an escape that JavaScript does not know.
    if (typeof text !== 'string') throw invalid('The command has an invalid escape sequence.');
    parser.literal(text);
    if (index < values.length) parser.value(values[index]);
  });
  return parser.end();
}

class TemplateParser {
  readonly #words: string[] = [];
  /** The word being built; undefined between words. */
  #word: string | undefined;
  #quote: string | undefined;
  /** The word is an array, so nothing may follow it. */
  #complete = false;

  literal(text: string): void {
    for (const character of text) this.#character(character);
  }

  value(value: unknown): void {
    if (Array.isArray(value)) return this.#several(value);
    this.#append(argument(value));
  }

  end(): string[] {
    if (this.#quote !== undefined) throw invalid(`A quote (${this.#quote}) in the command is not closed.`);
    this.#finishWord();
    if (!this.#words[0]) throw invalid('The command names no program.');
    return this.#words;
  }

  #character(character: string): void {
    if (this.#quote !== undefined) {
      if (character === this.#quote) this.#quote = undefined;
      else this.#append(character);
    } else if (character === '"' || character === "'") {
      this.#append('');
      this.#quote = character;
    } else if (/\s/.test(character)) this.#finishWord();
    else if (SHELL_CHARACTERS.test(character)) throw shellCharacter(character);
    else this.#append(character);
  }

  #append(text: string): void {
    if (this.#complete) throw arrayInWord();
    this.#word = (this.#word ?? '') + text;
  }

  #several(values: readonly unknown[]): void {
    if (this.#word !== undefined || this.#complete) throw arrayInWord();
    this.#words.push(...values.map(argument));
    this.#complete = true;
  }

  #finishWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
    this.#complete = false;
  }
}

function argument(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  // Does not repeat the value, because arguments may be secret.
  throw invalid('A value in the command is not a string, a number or an array of these.');
}

function shellCharacter(character: string): ExecError {
  return invalid(
    `The command has "${character}" outside of quotes, and no shell reads it. Quote it, put it into a value, or run ['sh', '-c', …].`,
  );
}

function arrayInWord(): ExecError {
  return invalid('An array in the command must stand alone, with whitespace on both sides.');
}

function invalid(message: string): ExecError {
  return new ExecError('invalidParams', message);
}
