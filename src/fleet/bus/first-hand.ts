import type { Msg } from '@nats-io/transport-node';

/**
 * Whether a message comes from someone who may publish on its subject. JetStream sends stored messages to any reply subject a
 * request names, so anyone who may store and read messages could impersonate everyone. Such messages have headers. Ours have
 * none, nor do those by which NATS reports that there is no subscriber.
 */
export function isFirstHand({ headers }: Pick<Msg, 'headers'>): boolean {
  return headers === undefined || headers.keys().length === 0;
}
