import type { TerminalSize } from '../contract/index.js';
import { damaged } from './file-lines.js';

/** More than thirty years. */
const MAX_TIME_S = 1e9;

/** Checks a size, given as columns and rows. */
export function requireSize([cols, rows]: readonly unknown[], line: number): TerminalSize {
  const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0;
  if (isCount(cols) && isCount(rows)) return { cols, rows };
  throw damaged(line, 'has no terminal size');
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIME_S;
}
