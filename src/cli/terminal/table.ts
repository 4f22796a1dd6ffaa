import { paint } from './paint.js';

const COLUMN_GAP = '  ';
/** Control characters could move the cursor or colour the rest of the screen, and those of right-to-left text reorder a line. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const UPPER_CONTROL = /[\u007f-\u009f]/g;

/** Replaces control characters in untrusted text. */
export function printable(text: string): string {
  return text.replace(CONTROL, '\uFFFD');
}

/** A table for people: columns as wide as their content, headings bold on terminals. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map((cell) => printable(cell)));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...clean.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(COLUMN_GAP)
      .trimEnd();
  return `${[paint(line(headings), 'bold'), ...clean.map(line)].join('\n')}\n`;
}

/** Data for programs: one JSON document, indented and safe to print on a terminal. */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  // JSON requires escapes only for C0 controls. These can occur only within strings.
  return `${text.replace(UPPER_CONTROL, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\n`;
}
