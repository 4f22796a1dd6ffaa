/**
 * How messages are deflated if both sides agree (RFC 7692): each on its own, so that a connection keeps no window of
 * previous ones. The inflated size counts against the message limit, and only a few are processed at a time, because
 * many at once fragment the heap.
 */
export const MESSAGE_DEFLATE = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  concurrencyLimit: 2,
};

/** Who is offered compression: clients on other machines, everyone, or no one. */
export type CompressionUse = 'remote' | 'always' | 'never';
