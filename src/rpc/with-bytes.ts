/** Bytes that came with a message, and the member of its `params` or `result` they stand for. */
export interface Attachment {
  readonly field: string;
  readonly bytes: Uint8Array;
}

/** A result with one bulky member as bytes. Whether they travel so or in base64 is up to the connection. */
export class WithBytes<Result = unknown> implements Attachment {
  constructor(
    readonly field: string,
    readonly bytes: Uint8Array,
    /** The other members; the bulky one is absent or empty. */
    readonly rest: Partial<Result>,
  ) {}
}
