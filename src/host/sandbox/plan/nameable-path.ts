import { ExecError } from '../../../protocol/errors.js';

/**
 * Names need not be UTF-8, and a name that cannot be written as text cannot be covered by a mount. Better to start no
 * process than one that sees it.
 */
export function nameable(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes('\ufffd') || Buffer.from(text).equals(bytes)) return text;
  throw new ExecError('sandboxUnavailable', `The sandbox cannot name ${text}, which is not UTF-8.`, {
    data: { reason: 'notUtf8', hint: 'Rename it.' },
  });
}
