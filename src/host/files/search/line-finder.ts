import { createContext, Script } from 'node:vm';
import { ExecError } from '../../../protocol/errors.js';
import type { Breather } from '../access/breather.js';
import { requireSpareDescriptors } from '../access/spare-descriptors.js';

/** How long an expression may hold the event loop in one go. Some need ages on harmless-looking text. */
const GO_MS = 15;

/** How often a line is tried before the expression counts as too slow. */
const TRIES = 6;

/** Tries in which a busy machine took the time away do not count, but they end as well. */
const MAX_TRIES = 200;

/** What watches the time opens a few descriptors, and without them Node ends the process. */
const WATCHDOG_DESCRIPTORS = 16;

/** For each line, the character where the first match starts, or -1. */
export type Finder = (lines: readonly string[], breather: Breather) => Promise<readonly number[]>;

/** Runs in a context of its own, which is the only way to stop an expression that does not come to an end. */
export function createFinder(source: string, flags: string): Finder {
  const tryLines = createTry(source, flags);
  const tryOne = async (line: string, breather: Breather): Promise<number> => {
    let tried = 0;
    for (let attempt = 0; attempt < MAX_TRIES && tried < TRIES; attempt += 1) {
      const before = process.cpuUsage();
      const [found] = tryLines([line]) ?? [];
      const { user, system } = process.cpuUsage(before);
      await breather.rest();
      if (found !== undefined) return found;
      if (user + system > (GO_MS * 1000) / 2) tried += 1;
    }
    throw new ExecError('invalidParams', 'The pattern takes too long to match.');
  };
  return async (lines, breather) => {
    const all = tryLines(lines);
    if (all !== null) return all;
    await breather.rest();
    const found: number[] = [];
    for (const line of lines) found.push(await tryOne(line, breather));
    return found;
  };
}

/** Null when the time was not enough. */
function createTry(source: string, flags: string): (lines: readonly string[]) => readonly number[] | null {
  let regex: RegExp;
  try {
    regex = new RegExp(source, flags);
  } catch (error) {
    throw new ExecError('invalidParams', 'The pattern is not a valid regular expression.', { cause: error });
  }
  const context = createContext({ regex, lines: [] });
  const script = new Script('lines.map((line) => line.search(regex))');
  return (lines) => {
    context['lines'] = lines;
    requireSpareDescriptors(WATCHDOG_DESCRIPTORS);
    try {
      return script.runInContext(context, { timeout: GO_MS }) as number[];
    } catch {
      return null;
    }
  };
}
