import { createContext, Script } from 'node:vm';
import { ExecError } from '../../../protocol/errors.js';
import type { TimeSlice } from '../../kernel/index.js';
import { requireSpareDescriptors } from '../access/spare-descriptors.js';

/** How long an expression may hold the event loop at a time. Some take ages on harmless-looking text. */
const TRY_MS = 15;

/** How often a line is tried before the expression counts as too slow. */
const TRIES = 6;

/** Tries that a busy machine cut short do not count, but their number is limited as well. */
const MAX_TRIES = 200;

/** Node's timeout watchdog opens a few descriptors, and without them Node ends the process. */
const WATCHDOG_DESCRIPTORS = 16;

/** For each line, the character where the first match starts, or -1. */
export type Finder = (lines: readonly string[], slice: TimeSlice) => Promise<readonly number[]>;

/** Runs in a separate context, which is the only way to stop an expression that does not terminate. */
export function createFinder(source: string, flags: string): Finder {
  const tryLines = createTry(source, flags);
  const tryOne = async (line: string, slice: TimeSlice): Promise<number> => {
    let tried = 0;
    for (let attempt = 0; attempt < MAX_TRIES && tried < TRIES; attempt += 1) {
      const before = process.cpuUsage();
      const [found] = tryLines([line]) ?? [];
      const { user, system } = process.cpuUsage(before);
      await slice.yieldIfOver();
      if (found !== undefined) return found;
      if (user + system > (TRY_MS * 1000) / 2) tried += 1;
    }
    throw new ExecError('invalidParams', 'The pattern takes too long to match.');
  };
  return async (lines, slice) => {
    const all = tryLines(lines);
    if (all !== null) return all;
    await slice.yieldIfOver();
    const found: number[] = [];
    for (const line of lines) found.push(await tryOne(line, slice));
    return found;
  };
}

/** Null if the time was too short. */
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
      return script.runInContext(context, { timeout: TRY_MS }) as number[];
    } catch {
      return null;
    }
  };
}
