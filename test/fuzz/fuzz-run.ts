import { seededRandom } from '../harness/random.js';
import { type Schema, SchemaValues } from '../harness/schema-values.js';
import type { Wire } from '../../testkit/wire-client.mjs';
import { assertConfined, type FixedValues } from './confined-values.js';

/** Unanswered requests at a time: a busy client's, far below what servers refuse. */
const IN_FLIGHT = 64;
/** Many times what the slowest request takes on a busy machine. */
const SILENCE_LIMIT_MS = 15_000;

/** Another value in EXECWIRE_FUZZ_SEED plays other messages; a failure names the one it played. */
export const baseSeed = Number(process.env['EXECWIRE_FUZZ_SEED'] ?? 1);

export interface FuzzOptions {
  readonly wire: Wire;
  readonly seed: number;
  readonly count: number;
  /** The folder all paths stay in. */
  readonly base: string;
  readonly values: FixedValues;
  /** Parameters of each method, by name. */
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly codes: ReadonlySet<number>;
  /** Methods that cost more than the others together: sent a quarter as often. */
  readonly rare?: readonly string[];
  /** What goes around method and parameters. */
  readonly envelope?: (request: { id: string; method: string; params: unknown }) => unknown;
}

interface Answer {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly data?: { readonly code?: string } };
}

/** Sends made-up requests, many at a time, until all are answered: each once, and refusals with a code that is known. */
export class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #methods: readonly string[];
  readonly #values: SchemaValues;
  readonly #waiting = new Map<unknown, string>();
  #sent = 0;
  #answered = 0;
  #refused = 0;
  #fail: (error: Error) => void = () => undefined;
  #succeed: () => void = () => undefined;
  #silence: NodeJS.Timeout | undefined;

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#methods = Object.keys(options.schemas).flatMap((name) =>
      options.rare?.includes(name) ? [name] : [name, name, name, name],
    );
    this.#values = new SchemaValues(seededRandom(options.seed), options.values);
  }

  /** Resolves to how many were refused. */
  async play(): Promise<{ answered: number; refused: number }> {
    const over = new Promise<void>((resolve, reject) => {
      this.#succeed = resolve;
      this.#fail = (error) => reject(error);
    });
    this.#options.wire.onText((text) => this.#arrived(text));
    this.#options.wire.onClose(() => this.#fail(this.#failure('the connection ended')));
    this.#heard();
    this.#sendMore();
    await over.finally(() => clearTimeout(this.#silence));
    return { answered: this.#answered, refused: this.#refused };
  }

  #sendMore(): void {
    while (this.#sent < this.#options.count && this.#waiting.size < IN_FLIGHT) {
      const id = `f${this.#sent}`;
      this.#sent += 1;
      const text = this.#message(id);
      this.#waiting.set(id, text);
      this.#options.wire.send(text);
    }
  }

  #message(id: string): string {
    const { schemas, base, envelope } = this.#options;
    const method = this.#values.pick(this.#methods);
    const params = this.#values.value(schemas[method] ?? {});
    assertConfined(params, base);
    const request = { id, method, params };
    return JSON.stringify(envelope ? envelope(request) : request);
  }

  #arrived(text: string): void {
    this.#heard();
    const answer = JSON.parse(text) as Answer;
    if (!('id' in answer)) return;
    const request = this.#waiting.get(answer.id);
    if (request === undefined) return this.#fail(this.#failure(`an answer nobody waits for: ${text}`));
    this.#waiting.delete(answer.id);
    this.#answered += 1;
    if (answer.error) this.#check(answer.error, request);
    if (this.#answered === this.#options.count) this.#succeed();
    else this.#sendMore();
  }

  #check({ code, data }: NonNullable<Answer['error']>, request: string): void {
    this.#refused += 1;
    if (this.#options.codes.has(code) && data?.code !== 'internalError') return;
    this.#fail(this.#failure(`answered with ${code} ${data?.code ?? ''}: ${request}`));
  }

  #heard(): void {
    clearTimeout(this.#silence);
    const limit = (): void => this.#fail(this.#failure(`${this.#waiting.size} unanswered`));
    this.#silence = setTimeout(limit, SILENCE_LIMIT_MS);
  }

  #failure(what: string): Error {
    const waiting = [...this.#waiting.values()].slice(0, 5).map((text) => text.slice(0, 500));
    const where = `seed ${this.#options.seed}, after ${this.#answered} answers`;
    return new Error(`${what} (${where}; EXECWIRE_FUZZ_SEED=${baseSeed})\nwaiting:\n${waiting.join('\n')}`);
  }
}
