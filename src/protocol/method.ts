import type { z } from 'zod';

/**
 * A path in the file tree. Changes are ordered with other changes of the same path and of everything above or below it;
 * reads are ordered with changes of the very same path.
 */
export interface PathOrder {
  readonly path: string;
  readonly changes: boolean;
}

/** What a request must stay in order with: others with the same name, or of a related path. */
export type OrderKey = string | PathOrder;

/** Members of each side of a method, by name. */
export interface SideMembers {
  readonly params?: string;
  readonly result?: string;
}

/** How large an answer may be: a few values, a list that takes a while to build, or content. */
export type AnswerSize = 'small' | 'list' | 'large';

/** A method a client may call: its params, its result and its ordering. */
export interface RequestMethod<
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
  Bytes extends SideMembers | undefined = SideMembers | undefined,
> {
  readonly kind: 'request';
  readonly doc: string;
  readonly params: Params;
  readonly result: Result;
  /**
   * Requests with the same key, or with one key in common, take effect in the order they were sent. Without a key they
   * run immediately.
   */
  readonly orderedBy: ((params: z.output<Params>) => OrderKey | readonly OrderKey[] | undefined) | undefined;
  /** The capability that announces this method; absent if Codex has it too. */
  readonly extension: string | undefined;
  /** The bulky member of each side: base64 in text, or raw bytes in a binary frame. */
  readonly bytes: Bytes;
  /** Further members that hold bytes. They are always sent as base64. */
  readonly base64: SideMembers | undefined;
  /** Answers that may be large wait while earlier ones are unread. */
  readonly answerSize: AnswerSize;
  /** Answered only when the program it starts has ended, which may take arbitrarily long. */
  readonly answeredAtEnd: boolean;
  /** Executing it twice leaves the same state as once, so a client may repeat it if the answer was lost. */
  readonly idempotent: boolean;
  /** It refers to something that exists only in one session: elsewhere the same id means something else. */
  readonly sessionBound: boolean;
  /**
   * It ends or changes something that is running, so it is admitted even when other requests are refused as too many.
   */
  readonly control: boolean;
  /**
   * Who may call it besides clients with full access: viewers of one process, or only viewers of all that a machine runs. Absent:
   * nobody, as files may hold secrets.
   */
  readonly viewing: 'process' | 'machine' | undefined;
  /** Only clients that requested the experimental API may use it: the whole method, or the named members. */
  readonly experimental: boolean | readonly string[];
}

/** A message without an answer. */
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

/** What a caller passes: defaults may be omitted. */
export type ParamsOf<Method extends { params: z.ZodType }> = z.input<Method['params']>;
/** What a handler receives: defaults are filled in. */
export type ParsedParamsOf<Method extends { params: z.ZodType }> = z.output<Method['params']>;
export type ResultOf<Method extends { result: z.ZodType }> = z.output<Method['result']>;

/** Declares a request. This is the only place where its shape is defined. */
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
  viewing?: 'process' | 'machine';
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
    viewing: undefined,
    experimental: false,
    ...declaration,
    // Omitted means undefined, which is then the type `Bytes`.
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
