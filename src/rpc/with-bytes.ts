/** Bytes sent with a message, and the member of `params` or `result` they replace. */
export interface Attachment {
  readonly field: string;
  readonly bytes: Uint8Array;
}

/** An answer that came with bytes. */
export class WithBytes implements Attachment {
  constructor(
    readonly field: string,
    readonly bytes: Uint8Array,
    /** The other members; the one the bytes replace is empty. */
    readonly rest: Readonly<Record<string, unknown>>,
  ) {}
}
