/** @typedef {(token: string) => number} Atom The value of a number or a name. */

/**
 * Evaluates a sum and takes its tokens from the list.
 * @param {string[]} tokens
 * @param {Atom} atom
 */
export function sum(tokens, atom) {
  let value = product(tokens, atom);
  while (tokens[0] === '+' || tokens[0] === '-') {
    const isPlus = tokens.shift() === '+';
    const next = product(tokens, atom);
    value = isPlus ? value + next : value - next;
  }
  return value;
}

/** @returns {number} */
function product(tokens, atom) {
  let value = power(tokens, atom);
  while (tokens[0] === '*' || tokens[0] === '/') {
    const isTimes = tokens.shift() === '*';
    const next = power(tokens, atom);
    value = isTimes ? value * next : value / next;
  }
  return value;
}

/** @returns {number} */
function power(tokens, atom) {
  const base = factor(tokens, atom);
  if (tokens[0] !== '**') return base;
  tokens.shift();
  return base ** power(tokens, atom);
}

function factor(tokens, atom) {
  const token = tokens.shift() ?? '';
  if (token !== '(') return atom(token);
  const value = sum(tokens, atom);
  tokens.shift();
  return value;
}
