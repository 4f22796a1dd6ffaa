/** The style of a character. */
export interface Attributes {
  isBold(): number | boolean;
  isDim(): number | boolean;
  isItalic(): number | boolean;
  isUnderline(): number | boolean;
  isBlink(): number | boolean;
  isInverse(): number | boolean;
  isInvisible(): number | boolean;
  isStrikethrough(): number | boolean;
  isOverline(): number | boolean;
  isFgRGB(): boolean;
  isFgPalette(): boolean;
  getFgColor(): number;
  getFgColorMode(): number;
  isBgRGB(): boolean;
  isBgPalette(): boolean;
  getBgColor(): number;
  getBgColorMode(): number;
  /** 1 to 5: plain, double, curly, dotted, dashed. Not every object has it. */
  getUnderlineStyle?(): number;
}

/** The 16 colours with codes of their own. */
const SIXTEEN = 0x1000000;

export const PLAIN = '\u001b[m';

/** The sequence that sets this style, whatever the style before. */
export function penOf(look: Attributes): string {
  const style = look.isUnderline() ? (look.getUnderlineStyle?.() ?? 1) : 0;
  const codes = [
    ...(look.isBold() ? ['1'] : []),
    ...(look.isDim() ? ['2'] : []),
    ...(look.isItalic() ? ['3'] : []),
    ...(style > 0 ? [style === 1 ? '4' : `4:${style}`] : []),
    ...(look.isBlink() ? ['5'] : []),
    ...(look.isInverse() ? ['7'] : []),
    ...(look.isInvisible() ? ['8'] : []),
    ...(look.isStrikethrough() ? ['9'] : []),
    ...(look.isOverline() ? ['53'] : []),
    ...colour(look.isFgRGB(), look.isFgPalette(), look.getFgColorMode(), look.getFgColor(), 30),
    ...backgroundOf(look),
  ];
  return codes.length === 0 ? PLAIN : `\u001b[0;${codes.join(';')}m`;
}

/** The same for cells without a character, which have only a background. */
export function backgroundPen(look: Attributes): string {
  const codes = backgroundOf(look);
  return codes.length === 0 ? PLAIN : `\u001b[0;${codes.join(';')}m`;
}

function backgroundOf(look: Attributes): string[] {
  return colour(look.isBgRGB(), look.isBgPalette(), look.getBgColorMode(), look.getBgColor(), 40);
}

function colour(isRgb: boolean, isPalette: boolean, mode: number, value: number, base: number): string[] {
  if (isRgb) return [`${base + 8};2;${value >> 16};${(value >> 8) & 0xff};${value & 0xff}`];
  if (!isPalette) return [];
  if (mode !== SIXTEEN) return [`${base + 8};5;${value}`];
  return [String(value < 8 ? base + value : base + 52 + value)];
}
