import { countNewlines } from '../contract/index.js';

const NEWLINE = 0x0a;

/**
 * The number of newlines in output to be stored. Much output has none (archives, progress bars, JSON), and searching for the
 * first one costs a quarter of counting. If there is one, the search ends soon.
 */
export function newlinesIn(output: Uint8Array): number {
  return Buffer.prototype.indexOf.call(output, NEWLINE) < 0 ? 0 : countNewlines(output);
}
