const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

/** Colours text if the stream is a terminal and the user has not asked for plain text (no-color.org). */
export function paint(
  text: string,
  colour: keyof typeof CODES,
  stream: { isTTY?: boolean } = process.stdout,
): string {
  const wanted = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return wanted ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}
