import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sum } from './arithmetic.mjs';

const src = fileURLToPath(new URL('../../../src/', import.meta.url));

/**
 * The value of an expression over constants of one source file, such as `rpc/outbox.ts: OUTBOX_FULL_BYTES`. Read from the text,
 * because most limits are private to their file. Throws if a constant is not there.
 * @param {string} reference
 */
export function valueOf(reference) {
  const [file = '', expression = ''] = reference.split(': ');
  const value = evaluate(expression, file);
  if (!Number.isFinite(value)) throw new Error(`${reference} is not a number.`);
  return value;
}

/** @returns {number} */
function evaluate(expression, file) {
  const tokens = expression.match(/\*\*|[-+*/()]|[\w.]+/g) ?? [];
  const value = sum(tokens, (token) =>
    /^\d/.test(token) ? Number(token.replaceAll('_', '')) : constant(token, file),
  );
  if (tokens.length > 0) throw new Error(`${file}: ${expression} is too complicated.`);
  return value;
}

/** @returns {number} */
function constant(name, file) {
  const [object, key] = name.split('.');
  const text = readFileSync(join(src, file), 'utf8');
  const [, literal] = new RegExp(`^(?:export )?const ${object}\\b[^=]*=\\s*([^;]+);`, 'm').exec(text) ?? [];
  if (literal !== undefined && key === undefined) return evaluate(literal, file);
  const [, member] = new RegExp(`\\b${key}: ([^,}\\n]+)`).exec(literal ?? '') ?? [];
  if (member !== undefined) return evaluate(member, file);
  const [, origin] =
    new RegExp(`import \\{[^}]*\\b${object}\\b[^}]*\\} from '(\\.[^']+)\\.js'`).exec(text) ?? [];
  if (origin === undefined) throw new Error(`${file}: there is no ${name}.`);
  return constant(name, join(dirname(file), `${origin}.ts`));
}
