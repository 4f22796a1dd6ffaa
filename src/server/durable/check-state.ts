import { Journal } from './journal.js';

/** Throws `invalidConfiguration` if this release cannot continue where the server with this journal is. Changes nothing. */
export function checkState(journal: string): void {
  Journal.check(journal);
}
