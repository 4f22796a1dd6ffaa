import { ExecError } from '../../protocol/errors.js';
import { crypto, randomBytes } from '../kernel/index.js';

/** What an id may look like: it is the name of a folder, and people type it. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function isSetId(changesId: string): boolean {
  return ID.test(changesId);
}

export function requireSetId(changesId: string): void {
  if (!isSetId(changesId))
    throw new ExecError(
      'invalidParams',
      'The id of held changes consists of up to 64 letters, digits, dots, dashes and underscores.',
    );
}

/** The name of its folder. Ids of different owners have nothing to do with each other. */
export function folderName(changesId: string, owner: string): string {
  const digest = crypto().createHash('sha256').update(owner).digest('hex').slice(0, 12);
  return `${digest}-${changesId}`;
}

/** Short, and without characters that are mistaken for each other. */
export function newSetId(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  return Array.from(randomBytes(8), (byte) => letters[byte % letters.length]).join('');
}
