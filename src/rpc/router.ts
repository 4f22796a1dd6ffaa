import { z } from 'zod';
import { ExecError } from '../protocol/errors.js';
import type { MethodTable, ParsedParamsOf, ResultOf } from '../protocol/index.js';
import type { AnswerSlot } from './answer-queue.js';
import type { BytesResult } from './bytes-result.js';
import { Lanes } from './lanes.js';
import type { Attachment } from './with-bytes.js';

/**
 * An answer that is given after the request has left its lane, so that the lane continues immediately. A write waiting
 * for room must not delay the terminate behind it.
 */
export class DeferredAnswer<Value> {
  /** `paramsDone`: the request's parameters are stored and bounded elsewhere. */
  constructor(
    readonly answer: Promise<Value | BytesResult | LargeAnswer<Value>>,
    readonly options: { readonly paramsDone?: boolean } = {},
  ) {}
}

/** An answer that is produced only when it is due and there is room for it. */
export class LargeAnswer<Value> {
  constructor(
    readonly make: () => Value | Promise<Value>,
    /** `bytes`: its size, if that is known. */
    readonly options: { readonly due?: Promise<unknown> | undefined; readonly bytes?: number } = {},
  ) {}
}

type Outcome<Value> = Value | DeferredAnswer<Value> | LargeAnswer<Value> | BytesResult;

/** Assumed size of a large answer before it is known. Most are smaller. */
const LARGE_ANSWER_BYTES = 1024 * 1024;

/** Assumed size by kind of answer. Most lists are short, and producing only a few at a time would make others wait. */
const ANSWER_BYTES = { large: LARGE_ANSWER_BYTES, list: LARGE_ANSWER_BYTES / 8 };

export type Answer<Value> = Outcome<Value> | Promise<Outcome<Value>>;

/**
 * One handler per method of the table, which determines parameter and result types. `bytes` were sent beside the
 * parameters, whose bulky member is then empty.
 */
export type Handlers<Table extends MethodTable> = {
  readonly [Name in keyof Table]: (
    params: ParsedParamsOf<Table[Name]>,
    bytes?: Uint8Array,
  ) => Answer<ResultOf<Table[Name]>>;
};

/** How a protocol words errors about requests it cannot understand. */
export interface ErrorWording {
  unknownMethod(method: string): ExecError;
  /** `problem` names the field and what was expected. */
  undecodable(problem: string): ExecError;
}

/** The plain JSON-RPC wording. */
const PLAIN_WORDING: ErrorWording = {
  unknownMethod: (method) => new ExecError('methodNotFound', `unknown method: ${method.slice(0, 100)}`),
  undecodable: (problem) => new ExecError('invalidParams', problem),
};

export interface RouterOptions<Table extends MethodTable> {
  readonly table: Table;
  readonly handlers: Handlers<Table>;
  /** Throws if the request may not run: too early, or not announced. Called with valid params only. */
  readonly admit: (method: string, params: unknown) => void;
  readonly wording?: ErrorWording;
}

/** Takes a method name and raw params to a handler: look up, validate, admit, order, run. */
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

  /** Runs a request. Unknown methods are reported before invalid params, and those before a missing handshake. */
  dispatch(method: string, rawParams: unknown, attached: Attachment | undefined, slot: AnswerSlot): unknown {
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
        : () => slot.make<unknown>(ANSWER_BYTES[answerSize], () => handler(params, bytes));
    return unwrap(this.#lanes.run(declaration.orderedBy?.(params), run), slot);
  }
}

function unwrap(outcome: unknown, slot: AnswerSlot): unknown {
  if (outcome instanceof Promise) return outcome.then((value) => unwrap(value, slot));
  if (outcome instanceof LargeAnswer) {
    const { due, bytes } = outcome.options;
    const make = (): unknown =>
      bytes === undefined ? slot.make(LARGE_ANSWER_BYTES, outcome.make) : slot.makeOf(bytes, outcome.make);
    return due ? due.then(make) : make();
  }
  if (!(outcome instanceof DeferredAnswer)) return outcome;
  if (outcome.options.paramsDone === true) slot.paramsDone();
  return unwrap(outcome.answer, slot);
}

/** Parses params with a schema. The message names the field and what was expected, never the value. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  wording: Pick<ErrorWording, 'undecodable'> = PLAIN_WORDING,
): z.output<Schema> {
  // Absent and null params are equivalent.
  const outcome = schema.safeParse(raw ?? undefined);
  if (outcome.success) return outcome.data;
  const issue = outcome.error.issues[0];
  const where = issue?.path.length ? `params.${issue.path.join('.')}` : 'params';
  throw wording.undecodable(`${where}: ${issue?.message ?? 'invalid'}`);
}
