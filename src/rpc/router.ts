import { z } from 'zod';
import { ExecError } from '../protocol/errors.js';
import type { MethodTable, ParsedParamsOf, ResultOf } from '../protocol/index.js';
import type { AnswerPlace } from './answer-room.js';
import type { BytesResult } from './bytes-result.js';
import { Lanes } from './lanes.js';
import type { Attachment } from './with-bytes.js';

/**
 * An answer that comes after the request has taken its place in the order: the lane goes on at once.
 * A write waiting for room must not hold up the terminate behind it.
 */
export class DeferredAnswer<Value> {
  /** `paramsDone`: what the request brought is kept elsewhere, and bounded there. */
  constructor(
    readonly answer: Promise<Value | BytesResult | LargeAnswer<Value>>,
    readonly options: { readonly paramsDone?: boolean } = {},
  ) {}
}

/** An answer that is made only when it is due and there is room for it. */
export class LargeAnswer<Value> {
  constructor(
    readonly make: () => Value,
    readonly due?: Promise<unknown>,
  ) {}
}

type Outcome<Value> = Value | DeferredAnswer<Value> | LargeAnswer<Value> | BytesResult;

/** What a large answer is taken for before it is known: most are smaller. */
const LARGE_ANSWER_BYTES = 1024 * 1024;

/** The same for every size that has to wait for room. Most lists are short, and few at a time would make others wait. */
const ANSWER_BYTES = { large: LARGE_ANSWER_BYTES, list: LARGE_ANSWER_BYTES / 8 };

export type Answer<Value> = Outcome<Value> | Promise<Outcome<Value>>;

/**
 * One function per method of the table; the table decides what goes in and out. `bytes` came beside the parameters, whose
 * bulky member is then empty.
 */
export type Handlers<Table extends MethodTable> = {
  readonly [Name in keyof Table]: (
    params: ParsedParamsOf<Table[Name]>,
    bytes?: Uint8Array,
  ) => Answer<ResultOf<Table[Name]>>;
};

/** How a protocol words what it cannot make sense of. */
export interface ErrorWording {
  unknownMethod(method: string): ExecError;
  /** `problem` names the field and what was expected. */
  undecodable(problem: string): ExecError;
}

/** As JSON-RPC has it. */
const PLAIN_WORDING: ErrorWording = {
  unknownMethod: (method) => new ExecError('methodNotFound', `unknown method: ${method.slice(0, 100)}`),
  undecodable: (problem) => new ExecError('invalidParams', problem),
};

export interface RouterOptions<Table extends MethodTable> {
  readonly table: Table;
  readonly handlers: Handlers<Table>;
  /** Throws for requests that may not run: too early, not announced. Sees valid params only. */
  readonly admit: (method: string, params: unknown) => void;
  readonly wording?: ErrorWording;
}

/** From method name and raw params to a handler: look up, validate, admit, order, run. */
export class Router<Table extends MethodTable> {
  readonly #table: Table;
  readonly #handlers: Handlers<Table>;
  readonly #admit: (method: string, params: unknown) => void;
  readonly #wording: ErrorWording;
  readonly #lanes = new Lanes();

  constructor(options: RouterOptions<Table>) {
    this.#table = options.table;
    this.#handlers = options.handlers;
    this.#admit = options.admit;
    this.#wording = options.wording ?? PLAIN_WORDING;
  }

  /** Runs a request. An unknown method is reported before bad params, those before a handshake not done. */
  dispatch(
    method: string,
    rawParams: unknown,
    attached: Attachment | undefined,
    place: AnswerPlace,
  ): unknown {
    const declaration = Object.hasOwn(this.#table, method) ? this.#table[method] : undefined;
    if (!declaration) throw this.#wording.unknownMethod(method);
    if (attached && attached.field !== declaration.bytes?.params)
      throw this.#wording.undecodable('params: bytes stand for a member that takes none');
    const params = validate(declaration.params, rawParams, this.#wording);
    this.#admit(method, params);
    // The table ties the handler's parameter type to the schema that just produced `params`.
    const handler = this.#handlers[method] as (params: unknown, bytes?: Uint8Array) => Answer<unknown>;
    const bytes = attached?.bytes;
    const { answerSize } = declaration;
    const run =
      answerSize === 'small'
        ? () => handler(params, bytes)
        : () => place.make<unknown>(ANSWER_BYTES[answerSize], () => handler(params, bytes));
    return unwrap(this.#lanes.run(declaration.orderedBy?.(params), run), place);
  }
}

function unwrap(outcome: unknown, place: AnswerPlace): unknown {
  if (outcome instanceof Promise) return outcome.then((value) => unwrap(value, place));
  if (outcome instanceof LargeAnswer) {
    const make = (): unknown => place.make(LARGE_ANSWER_BYTES, outcome.make);
    return outcome.due ? outcome.due.then(make) : make();
  }
  if (!(outcome instanceof DeferredAnswer)) return outcome;
  if (outcome.options.paramsDone === true) place.paramsDone();
  return unwrap(outcome.answer, place);
}

/** Parses params with a schema. The message names the field and what was expected, never the value. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  wording: Pick<ErrorWording, 'undecodable'> = PLAIN_WORDING,
): z.output<Schema> {
  // Absent and null params are one and the same.
  const outcome = schema.safeParse(raw ?? undefined);
  if (outcome.success) return outcome.data;
  const issue = outcome.error.issues[0];
  const where = issue?.path.length ? `params.${issue.path.join('.')}` : 'params';
  throw wording.undecodable(`${where}: ${issue?.message ?? 'invalid'}`);
}
