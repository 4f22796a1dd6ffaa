import { parseAst } from 'rolldown/parseAst';

/**
 * Longer lines are broken where something begins that can stand on a line of its own. Errors that nobody catches are shown
 * with the line that made or threw them, so that is a short one; each break costs a byte of the package.
 */
const LINE_CHARS = 1000;
const ERROR_LINE_CHARS = 280;

/** An error whose class is in another file has a short name here: what it is made with, its code, tells it apart. */
const ERROR = /throw|Error\(|new [\w$.]+\(`[a-z]+`,/i;

/** Members of a syntax tree that hold what stands between brackets or semicolons: a line may end before each of those. */
const ENCLOSED = new Set(['arguments', 'body', 'consequent', 'elements', 'properties']);
/** Members that hold what commas separate. The first may follow a `return`, which would then return nothing. */
const SEPARATED = new Set(['declarations', 'expressions']);

/**
 * Where to break the lines of minified code. Node shows the line that threw an error nobody caught, and a whole file in one
 * line would bury the message.
 */
export function findBreaks(code) {
  const breaks = [];
  const starts = startsIn(parseAst(code));
  let lineStart = 0;
  for (const [index, start] of starts.entries()) {
    lineStart = Math.max(lineStart, code.lastIndexOf('\n', start) + 1);
    const next = starts[index + 1] ?? code.length;
    const hasError = ERROR.test(code.slice(lineStart, next));
    if (next - lineStart <= (hasError ? ERROR_LINE_CHARS : LINE_CHARS) || start === lineStart) continue;
    breaks.push(start);
    lineStart = start;
  }
  return breaks;
}

export function breakLines(code, breaks) {
  const ends = [...breaks, code.length];
  return ends.map((end, index) => code.slice(breaks[index - 1] ?? 0, end)).join('\n');
}

/** Tells where a place in broken code was before. Lines and columns count from 0. */
export function placesBefore(code, breaks) {
  const [broken, whole] = [startsOfLines(breakLines(code, breaks)), startsOfLines(code)];
  return ({ line, column }) => {
    const offset = broken[line] + column;
    // Each break before it has added a newline.
    const before = offset - breaks.filter((each, index) => each + index < offset).length;
    const lineBefore = whole.findLastIndex((start) => start <= before);
    return { line: lineBefore, column: before - whole[lineBefore] };
  };
}

function startsOfLines(text) {
  return [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
}

function startsIn(tree) {
  const starts = new Set();
  const visit = (node) => {
    for (const [name, member] of Object.entries(node)) {
      if (member === null || typeof member !== 'object') continue;
      if (Array.isArray(member)) {
        const [first] = ENCLOSED.has(name) ? [0] : SEPARATED.has(name) ? [1] : [member.length];
        for (const each of member.slice(first)) if (each) starts.add(each.start);
      }
      visit(member);
    }
  };
  visit(tree);
  return [...starts].sort((one, other) => one - other);
}
