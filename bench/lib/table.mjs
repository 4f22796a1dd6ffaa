/** A Markdown table with aligned columns, as readable on a terminal as on a page. Numbers go to the right. */
export function table(head, rows) {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length), 3),
  );
  const line = (cells) => `| ${cells.map((cell, column) => pad(cell, column, widths)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}

function pad(cell, column, widths) {
  return column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
}

/** What stands where there is nothing to say. */
export const NOTHING = '–';

export function number(value) {
  if (value === undefined || value === null) return NOTHING;
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(value);
}
