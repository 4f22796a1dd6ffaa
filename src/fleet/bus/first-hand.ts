import type { Msg } from '@nats-io/transport-node';

/**
 * Whether a message comes from somebody who may publish on its subject. JetStream sends what it has stored to wherever a request
 * wants the answer, so anybody who may store and read something could speak in the name of everybody. It adds headers. We send
 * none, and neither does NATS when it says that nobody is there.
 */
export function isFirstHand({ headers }: Pick<Msg, 'headers'>): boolean {
  return headers === undefined || headers.keys().length === 0;
}
