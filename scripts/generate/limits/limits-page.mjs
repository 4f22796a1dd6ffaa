import { errorCatalogue } from '../dialects.mjs';
import { clientLimits } from './client-limits.mjs';
import { valueOf } from './constants.mjs';
import { machineLimits } from './machine-limits.mjs';
import { serverLimits } from './server-limits.mjs';

/**
 * One limit, or several that belong together.
 * @typedef {object} Row
 * @property {string} what
 * @property {string | string[]} value Where it stands: `file: CONSTANT`. The name of the constant tells the unit.
 * @property {string} [option] What changes it: options of the command line, members in the library.
 * @property {string} atLimit What happens at the limit. Codes of errors are checked.
 */

/** @typedef {{ title: string, rows: Row[] }} Section */

const UNITS = {
  BYTES: [
    [1024 ** 3, 'GiB'],
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
    [1, 'bytes'],
  ],
  MS: [
    [86_400_000, 'days'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
    [1, 'ms'],
  ],
};

const HEAD = `# Limits

<!-- Generated from src/ by \`npm run generate\`: see scripts/generate/limits/. -->

Every queue, buffer and table has a limit, so that no client, program or machine can exhaust another. This page lists those that
users may reach, with their defaults and what happens there. Names in the third column are options of the command line and members
of the library's options; limits without one are fixed. Errors are described in [errors.md](errors.md).
`;

export function limitsPage() {
  const sections = [...serverLimits, ...machineLimits, ...clientLimits];
  return `${HEAD}${sections.map(section).join('')}`;
}

/** @param {Section} section */
function section({ title, rows }) {
  const lines = rows.map(
    ({ what, value, option = '–', atLimit }) =>
      `| ${what} | ${shown(value)} | ${option} | ${checked(atLimit)} |`,
  );
  return `\n## ${title}\n\n| limit | default | change it with | at the limit |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
}

function shown(value) {
  return [value].flat().map(inUnits).join(', ');
}

function inUnits(reference) {
  const value = valueOf(reference);
  const [, kind = ''] =
    /(?:_|\.[a-z]+(?:[A-Z][a-z]+)*)(BYTES|MS|Bytes|Ms)(?:_PER_\w+)?(?:\.[a-z]\w*)?$/.exec(reference) ?? [];
  const units = UNITS[kind.toUpperCase()];
  if (units === undefined) return value.toLocaleString('en-US');
  const [size, unit] = units.find(
    ([each, name]) => value % each === 0 && (name !== 'days' || value > each),
  ) ?? [1, ''];
  return `${(value / size).toLocaleString('en-US')} ${unit}`;
}

function checked(sentence) {
  for (const [, code = ''] of sentence.matchAll(/(?:Refused|[Ff]ails?|rejected as a whole) with `(\w+)`/g))
    if (!(code in errorCatalogue)) throw new Error(`No error is called ${code}.`);
  return sentence;
}
