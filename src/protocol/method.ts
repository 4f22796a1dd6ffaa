import type { z } from 'zod';

/**
 * A path in the tree of files. Changes keep their order with changes of the same path, of what is above it and of what
 * is below it; looking at a path keeps its order with changes of that very path.
 */
export interface PathOrder {
  readonly path: string;
  readonly changes: boolean;
}

/** What a request must stay in order with: others of the same name, or of a related path. */
export type OrderKey = string | PathOrder;

/** Members of the two sides of a method, by name. */
export interface SideMembers {
  readonly params?: string;
  readonly result?: string;
}

/** How large an answer may well be: a few values, a list that takes a while to make, or content. */
export type AnswerSize = 'small' | 'list' | 'large';

/** A method a client may call: what goes in, what comes out, and what it must stay in order with. */
export interface RequestMethod<
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
  Bytes extends SideMembers | undefined = SideMembers | undefined,
> {
  readonly kind: 'request';
  readonly doc: string;
  readonly params: Params;
  readonly result: Result;
  /** Requests with the same key, or one of several, take effect in the order they were sent; without they run at once. */
  readonly orderedBy: ((params: z.output<Params>) => OrderKey | readonly OrderKey[] | undefined) | undefined;
  /** Name of the capability that announces this method; absent for what Codex has, too. */
  readonly extension: string | undefined;
  /** The bulky member of each side, base64 in text; it may travel as bytes in a binary frame. */
  readonly bytes: Bytes;
  /** Further members that hold bytes. They always travel as base64. */
  readonly base64: SideMembers | undefined;
  /** Answers that may be large wait while those before them are unread. */
  readonly answerSize: AnswerSize;
  /** Answered when the program it starts has ended, so it may wait for as long as programs run. */
  readonly answeredAtEnd: boolean;
  /** Done twice it leaves the same state as done once, so a client may repeat it when the answer was lost. */
  readonly idempotent: boolean;
  /** It is about something that exists in one session only: in another one the same id means something else. */
  readonly sessionBound: boolean;
  /** It ends or changes something that runs, so it is admitted even when other requests are refused as too many. */
  readonly control: boolean;
  /** Only clients that asked for the experimental API may use it: the whole method, or the members named. */
  readonly experimental: boolean | readonly string[];
}

/** A message that gets no answer. */
export interface NotificationMethod<
  Params extends z.ZodType = z.ZodType,
  Bytes extends SideMembers | undefined = SideMembers | undefined,
> {
  readonly kind: 'notification';
  readonly doc: string;
  readonly params: Params;
  readonly extension: string | undefined;
  readonly bytes: Bytes;
  readonly base64: SideMembers | undefined;
}

export type MethodTable = Readonly<Record<string, RequestMethod>>;
export type NotificationTable = Readonly<Record<string, NotificationMethod>>;

/** What a caller passes: defaults may be left out. */
export type ParamsOf<Method extends { params: z.ZodType }> = z.input<Method['params']>;
/** What a handler receives: defaults are filled in. */
export type ParsedParamsOf<Method extends { params: z.ZodType }> = z.output<Method['params']>;
export type ResultOf<Method extends { result: z.ZodType }> = z.output<Method['result']>;

/** Declares a request. The declaration is the only place where its shape is written down. */
export function request<
  Params extends z.ZodType,
  Result extends z.ZodType,
  const Bytes extends SideMembers | undefined = undefined,
>(declaration: {
  doc: string;
  params: Params;
  result: Result;
  orderedBy?: (params: z.output<Params>) => OrderKey | readonly OrderKey[] | undefined;
  extension?: string;
  bytes?: Bytes;
  base64?: SideMembers;
  answerSize?: AnswerSize;
  answeredAtEnd?: boolean;
  idempotent?: boolean;
  sessionBound?: boolean;
  control?: boolean;
  experimental?: boolean | readonly string[];
}): RequestMethod<Params, Result, Bytes> {
  return {
    kind: 'request',
    orderedBy: undefined,
    extension: undefined,
    base64: undefined,
    answerSize: 'small',
    answeredAtEnd: false,
    idempotent: false,
    sessionBound: false,
    control: false,
    experimental: false,
    ...declaration,
    // Left out means undefined, which is then what `Bytes` is.
    bytes: declaration.bytes as Bytes,
  };
}

/** Declares a notification. */
export function notification<
  Params extends z.ZodType,
  const Bytes extends SideMembers | undefined = undefined,
>(declaration: {
  doc: string;
  params: Params;
  extension?: string;
  bytes?: Bytes;
  base64?: SideMembers;
}): NotificationMethod<Params, Bytes> {
  return {
    kind: 'notification',
    extension: undefined,
    base64: undefined,
    ...declaration,
    // As in a request.
    bytes: declaration.bytes as Bytes,
  };
}
