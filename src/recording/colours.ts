import type { Colour, Style } from './styled-runs.js';

export const FOREGROUND = '#d0d0d0';
export const BACKGROUND = '#16181d';

/** The first sixteen colours. Terminals disagree about them; these are readable on a dark background. */
const NAMED = [
  '#2e3436',
  '#e05561',
  '#8cc265',
  '#d1a75c',
  '#4aa5f0',
  '#c162de',
  '#42b3c2',
  '#c8ccd4',
  '#6b7280',
  '#ff616e',
  '#a5e075',
  '#f0c674',
  '#6cb6ff',
  '#de73ff',
  '#56d4dd',
  '#ffffff',
] as const;
const FIRST_GREY = 232;

/** The CSS colours of a style. */
export function cssColours(style: Style): { readonly text: string; readonly behind: string | null } {
  const text = cssColour(style.foreground) ?? FOREGROUND;
  const behind = cssColour(style.background);
  return style.inverse ? { text: behind ?? BACKGROUND, behind: text } : { text, behind };
}

function cssColour(colour: Colour | null): string | null {
  if (!colour) return null;
  if (colour.kind === 'rgb') return hex(colour.value);
  const { value } = colour;
  if (value < NAMED.length) return NAMED[value] ?? null;
  if (value >= FIRST_GREY) return hex((8 + (value - FIRST_GREY) * 10) * 0x01_01_01);
  const cube = value - NAMED.length;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
  return hex(((red ?? 0) << 16) | ((green ?? 0) << 8) | (blue ?? 0));
}

function hex(value: number): string {
  return `#${(value & 0xff_ff_ff).toString(16).padStart(6, '0')}`;
}
