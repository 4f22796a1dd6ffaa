/** Bytes that came with a message, and the member of its `params` or `result` they stand for. */
export interface Attachment {
  readonly field: string;
  readonly bytes: Uint8Array;
}

/** An answer that came with bytes. */
export class WithBytes implements Attachment {
  constructor(
    readonly field: string,
    readonly bytes: Uint8Array,
    /** Its members; the one the bytes stand for is empty. */
    readonly rest: Readonly<Record<string, unknown>>,
  ) {}
}
