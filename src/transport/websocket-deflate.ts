/**
 * How messages are deflated where both sides agree to it (RFC 7692): each by itself, so that a connection keeps no window of the last
 * ones. What is inflated counts against the largest message as if it had come so, and few are at a time: many at once leave the
 * memory of the process in pieces.
 */
export const MESSAGE_DEFLATE = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  concurrencyLimit: 2,
};

/** To whom compression is offered: clients of other machines, everybody, or nobody. */
export type CompressionUse = 'remote' | 'always' | 'never';
