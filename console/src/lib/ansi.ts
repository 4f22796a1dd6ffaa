/** A piece of a line in one style. */
export interface Run {
  readonly text: string;
  readonly style: Readonly<Record<string, string>>;
}

interface Pen {
  readonly colour?: string | undefined;
  readonly background?: string | undefined;
  readonly isBold?: boolean;
  readonly isFaint?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
}

const BASIC = ['#7d8896', '#c0262d', '#18794e', '#8a5a00', '#1f5fd6', '#8a3ffc', '#0b7285', '#59636f'];
const BASIC_DARK = ['#7d8896', '#ff8a8a', '#5cd699', '#f2c14e', '#6ea0ff', '#d29bff', '#56d4dd', '#dfe5ee'];
const SEQUENCE =
  // oxlint-disable-next-line no-control-regex -- these are what it is about
  /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;

/** Splits a line into runs. Colours are kept; every other sequence is dropped. Text stays text, whatever it says. */
export function runsOf(line: string, isDark: boolean): Run[] {
  const runs: Run[] = [];
  let pen: Pen = {};
  let from = 0;
  const add = (text: string): void => {
    if (text !== '') runs.push({ text: printable(text), style: styleOf(pen) });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    add(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm') pen = applied(pen, match[1] ?? '', isDark ? BASIC_DARK : BASIC);
  }
  add(line.slice(from));
  return runs;
}

/** A line that was drawn over shows what was drawn last. */
// oxlint-disable-next-line no-control-regex -- these are what it is about
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function printable(text: string): string {
  return text.replaceAll('\t', '    ').replace(CONTROLS, '');
}

function applied(pen: Pen, parameters: string, basic: readonly string[]): Pen {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = pen;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1), basic);
      next = code === 38 ? { ...next, colour } : { ...next, background: colour };
      at += used;
    } else next = plain(next, code, basic);
  }
  return next;
}

function plain(pen: Pen, code: number, basic: readonly string[]): Pen {
  if (code === 0) return {};
  if (code === 1) return { ...pen, isBold: true };
  if (code === 2) return { ...pen, isFaint: true };
  if (code === 3) return { ...pen, isItalic: true };
  if (code === 4) return { ...pen, isUnderlined: true };
  if (code === 22) return { ...pen, isBold: false, isFaint: false };
  if (code === 23) return { ...pen, isItalic: false };
  if (code === 24) return { ...pen, isUnderlined: false };
  if (code === 39) return { ...pen, colour: undefined };
  if (code === 49) return { ...pen, background: undefined };
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return { ...pen, colour: basic[code % 10] };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107))
    return { ...pen, background: `color-mix(in srgb, ${basic[code % 10]} 35%, transparent)` };
  return pen;
}

/** `5;n` or `2;r;g;b` behind 38 and 48. Returns the colour and how many numbers it took. */
function extended(codes: readonly number[], basic: readonly string[]): [string | undefined, number] {
  const [kind, first = 0, second = 0, third = 0] = codes;
  if (kind === 2) return [`rgb(${clamp(first)} ${clamp(second)} ${clamp(third)})`, 4];
  if (kind !== 5) return [undefined, 0];
  if (first < 16) return [basic[first % 8], 2];
  if (first >= 232) {
    const grey = 8 + (Math.min(first, 255) - 232) * 10;
    return [`rgb(${grey} ${grey} ${grey})`, 2];
  }
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40);
  const index = first - 16;
  return [`rgb(${level(Math.floor(index / 36))} ${level(Math.floor(index / 6) % 6)} ${level(index % 6)})`, 2];
}

function clamp(value: number): number {
  return Math.max(0, Math.min(255, Math.floor(value) || 0));
}

function styleOf(pen: Pen): Record<string, string> {
  return {
    ...(pen.colour ? { color: pen.colour } : {}),
    ...(pen.background ? { background: pen.background } : {}),
    ...(pen.isBold ? { fontWeight: '650' } : {}),
    ...(pen.isFaint ? { opacity: '0.7' } : {}),
    ...(pen.isItalic ? { fontStyle: 'italic' } : {}),
    ...(pen.isUnderlined ? { textDecoration: 'underline' } : {}),
  };
}
