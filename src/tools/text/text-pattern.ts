import { LinePattern } from '../../lines/index.js';

/** A regular expression for lines as the model sees them. Throws `invalidParams` if it cannot be used. */
export function textPattern(source: string): LinePattern {
  // An empty one matches every line.
  return new LinePattern({ pattern: source || '^', regex: true, exact: true });
}
