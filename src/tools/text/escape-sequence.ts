/* oxlint-disable no-control-regex -- control characters are what this file is about */
/** The effect of a control sequence on the current line. */
export type Escape =
  | { readonly kind: 'control'; readonly final: string; readonly parameters: readonly number[] }
  /** Colours, titles, character sets, modes: no visible text. */
  | { readonly kind: 'invisible' }
  /** The rest of it has not arrived. */
  | { readonly kind: 'incomplete' };

const CONTROL = /\x1b\[([0-?]*)[ -/]*([@-~])/y;
/** Title and palette changes, device control strings and the like: up to BEL or ST. */
const STRING = /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)/y;
const SHORT = /\x1b[ -/]*[0-~]/y;
const INCOMPLETE = /\x1b(?:|\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]+)$/y;
const BROKEN = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*)?/y;

/** A longer string sequence is treated as broken. */
const MAX_ESCAPE_CHARS = 4096;

/** Reads the sequence that starts with the ESC at `index`. */
export function readEscape(text: string, index: number): { escape: Escape; end: number } {
  const control = matchAt(CONTROL, text, index);
  if (control) {
    const parameters = (control[1] ?? '').replace(/[<-?]/g, '').split(';').map(Number);
    return {
      escape: { kind: 'control', final: control[2] ?? '', parameters },
      end: index + control[0].length,
    };
  }
  const string = matchAt(STRING, text, index);
  if (string) return { escape: { kind: 'invisible' }, end: index + string[0].length };
  if (text.length - index < MAX_ESCAPE_CHARS && matchAt(INCOMPLETE, text, index)) {
    return { escape: { kind: 'incomplete' }, end: text.length };
  }
  const other = /[[\]PX^_]/.test(text[index + 1] ?? '')
    ? matchAt(BROKEN, text, index)
    : (matchAt(SHORT, text, index) ?? matchAt(BROKEN, text, index));
  return { escape: { kind: 'invisible' }, end: index + (other?.[0].length ?? 1) };
}

function matchAt(expression: RegExp, text: string, index: number): RegExpExecArray | null {
  expression.lastIndex = index;
  return expression.exec(text);
}
