import { readFileSync, writeFileSync } from 'node:fs';
import { rounded } from '../lib/stats.mjs';
import { number, table } from '../lib/table.mjs';

const README = new URL('README.md', import.meta.url);
const BEGIN = '<!-- results: written by npm run bench:tools -->';
const END = '<!-- end of results -->';
const budgets = JSON.parse(readFileSync(new URL('budgets.json', import.meta.url), 'utf8'));

/** Each task in a row: calls, tokens and seconds of both, and the ratio of tokens. */
export function resultTable({ rows, definitions }) {
  const head = ['task', 'calls', 'naive', 'tokens', 'naive', 'ratio', 'seconds', 'naive'];
  const lines = rows.map(({ title, ours, naive }) => line(title, ours, naive));
  const fixed = line('tool definitions, once', definitions.ours, definitions.naive);
  const sum = totals({ rows, definitions });
  return table(head, [...lines, fixed, line('together', sum.ours, sum.naive)]);
}

function line(title, ours, naive) {
  return [
    title,
    number(ours.calls),
    number(naive.calls),
    number(ours.tokens),
    number(naive.tokens),
    `${number(rounded(ours.tokens / naive.tokens))} ×`,
    number(ours.seconds),
    number(naive.seconds),
  ];
}

function totals({ rows, definitions }) {
  const sum = (side, key) => rows.reduce((total, row) => total + row[side][key], definitions[side][key] ?? 0);
  const of = (side) => ({
    calls: sum(side, 'calls'),
    tokens: sum(side, 'tokens'),
    seconds: rounded(sum(side, 'seconds')),
  });
  return { ours: of('ours'), naive: of('naive') };
}

/** What is over its budget, in sentences. */
export function missedBudgets({ rows, definitions }, { whole }) {
  const missed = rows.flatMap(({ name, ours, naive }) => {
    const { calls, tokenRatio } = budgets.tasks[name];
    const ratio = ours.tokens / naive.tokens;
    return [
      ...(ours.calls > calls ? [`${name}: ${ours.calls} calls, budget ${calls}`] : []),
      ...(ratio > tokenRatio ? [`${name}: ${rounded(ratio)} × the tokens, budget ${tokenRatio}`] : []),
    ];
  });
  const fixed = definitions.ours.tokens;
  if (fixed > budgets.definitionTokens) {
    missed.push(`definitions: ${fixed} tokens, budget ${budgets.definitionTokens}`);
  }
  const sum = totals({ rows, definitions });
  const ratio = sum.ours.tokens / sum.naive.tokens;
  if (whole && ratio > budgets.totalTokenRatio) {
    missed.push(`together: ${rounded(ratio)} × the tokens, budget ${budgets.totalTokenRatio}`);
  }
  return missed;
}

/** Puts the table between the markers of README.md. */
export function writeReport(results) {
  const text = readFileSync(README, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < 0) throw new Error('bench/tools/README.md lacks the markers of the results.');
  const filled = `${text.slice(0, before)}${BEGIN}\n\n${resultTable(results)}\n\n${text.slice(after)}`;
  writeFileSync(README, filled);
}
