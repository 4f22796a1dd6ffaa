import { paint } from './paint.js';

const COLUMN_GAP = '  ';
/** C0 controls and DEL would move the cursor or colour the rest of the screen. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;
const UPPER_CONTROL = /[\u007f-\u009f]/g;

/** Text from elsewhere, without anything that could do more than be read. */
export function printable(text: string): string {
  return text.replace(CONTROL, '\uFFFD');
}

/** A table for people: columns as wide as their content, headings dimmed on terminals. */
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

/** Data for programs: one JSON document, indented so that people can read it too, on a terminal as well. */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  // JSON only requires that the lower ones are escaped. These occur within strings alone.
  return `${text.replace(UPPER_CONTROL, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\n`;
}
