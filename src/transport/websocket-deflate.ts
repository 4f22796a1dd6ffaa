/**
 * How messages are deflated if both sides agree (RFC 7692): each on its own, so that a connection keeps no window of
 * previous ones.
 */
export const MESSAGE_DEFLATE = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
};

/** Who is offered compression: clients on other machines, everyone, or no one. */
export type CompressionUse = 'remote' | 'always' | 'never';

/** Whether a client can inflate less than we deflate: we use the largest window, without asking. */
export function asksForSmallWindow(extensions: string | undefined): boolean {
  return extensions !== undefined && /\bserver_max_window_bits\b/i.test(extensions);
}
