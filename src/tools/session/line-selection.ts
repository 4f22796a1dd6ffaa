import type { LineBatch } from './output-lines.js';

/** A line and its number, counted from 1 over the whole output. */
export interface NumberedLine {
  readonly number: number;
  readonly text: string;
  /** False for context lines around a match. */
  readonly hit: boolean;
}

export interface Selection {
  /** In order, in batches: output may have millions of lines. */
  readonly batches: AsyncIterable<readonly NumberedLine[]>;
  /** Known once all batches are read. */
  readonly totals: { lines: number; hits: number };
}

export interface SelectionQuery {
  readonly from: number;
  readonly to: number;
  /** Returns the indexes of matching lines. Null selects every line. */
  readonly matches: ((lines: readonly string[]) => Promise<number[]>) | null;
  /** Lines shown before and after each match. */
  readonly context: number;
  /** Number of lines before the first batch. Default: 0. */
  readonly skipped?: number;
  /** The total number of lines, if known. Reading then stops after the last requested line. */
  readonly total?: number;
}

/** Selects lines by number and pattern from output of any length. */
export function selectLines(batches: AsyncIterable<LineBatch>, query: SelectionQuery): Selection {
  const totals = { lines: query.skipped ?? 0, hits: 0 };
  const picker = query.matches ? new MatchPicker(query, totals) : new RangePicker(query, totals);
  return { totals, batches: pickAll(batches, picker, query) };
}

interface Picker {
  readonly totals: Selection['totals'];
  pick(lines: readonly string[]): NumberedLine[] | Promise<NumberedLine[]>;
}

async function* pickAll(
  batches: AsyncIterable<LineBatch>,
  picker: Picker,
  { to, total }: SelectionQuery,
): AsyncGenerator<readonly NumberedLine[], void> {
  for await (const { lines } of batches) {
    const picked = await picker.pick(lines);
    if (picked.length > 0) yield picked;
    if (total !== undefined && picker.totals.lines >= to) break;
  }
  if (total !== undefined) picker.totals.lines = total;
}

class RangePicker implements Picker {
  constructor(
    readonly query: SelectionQuery,
    readonly totals: Selection['totals'],
  ) {}

  pick(lines: readonly string[]): NumberedLine[] {
    const before = this.totals.lines;
    this.totals.lines += lines.length;
    const start = Math.max(0, this.query.from - before - 1);
    const end = Math.max(0, Math.min(lines.length, this.query.to - before));
    return lines
      .slice(start, end)
      .map((text, index) => ({ number: before + start + index + 1, text, hit: true }));
  }
}

class MatchPicker implements Picker {
  #before: NumberedLine[] = [];
  #after = 0;

  constructor(
    readonly query: SelectionQuery,
    readonly totals: Selection['totals'],
  ) {}

  async pick(lines: readonly string[]): Promise<NumberedLine[]> {
    const hits = new Set(await this.query.matches?.(lines));
    return lines.flatMap((text, index) => {
      this.totals.lines += 1;
      const line = { number: this.totals.lines, text, hit: hits.has(index) };
      return line.number < this.query.from || line.number > this.query.to ? [] : this.#consider(line);
    });
  }

  #consider(line: NumberedLine): NumberedLine[] {
    const { context } = this.query;
    if (line.hit) {
      this.totals.hits += 1;
      const shown = [...this.#before, line];
      this.#before = [];
      this.#after = context;
      return shown;
    }
    if (this.#after > 0) {
      this.#after -= 1;
      return [line];
    }
    this.#before.push(line);
    if (this.#before.length > context) this.#before.shift();
    return [];
  }
}
