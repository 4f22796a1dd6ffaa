import type { ProcessEnd } from '../../contract/index.js';

/** What has no number and no name to show. */
const WORDS = {
  timedOut: 'timed out',
  contactLost: 'lost contact',
  failed: 'could not be run',
  skipped: 'were not run',
  cancelled: 'cancelled',
  expired: 'expired',
} as const;

type Outcome = Extract<ProcessEnd, { kind: 'exited' | 'signalled' }> | { readonly kind: keyof typeof WORDS };

/** How it went on some machine, in a few words. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return outcome.exitCode === 0 ? 'succeeded' : `exited with ${outcome.exitCode}`;
    case 'signalled':
      return `killed by ${outcome.signal}`;
    default:
      return WORDS[outcome.kind];
  }
}
