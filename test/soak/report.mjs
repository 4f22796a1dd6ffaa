import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, release } from 'node:os';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The report as Markdown. */
export function reportText({ seconds, samples, rounds, trends, problems }) {
  return [
    '# Soak',
    `${seconds} seconds of everything at once against one \`execwire serve\`, each answer checked: ` +
      `execwire ${version}${commit()} on Node ${process.versions.node}, Linux ${release()}, ` +
      `${availableParallelism()} cores, ${new Date().toISOString().slice(0, 10)}. ` +
      `Repeat it with \`npm run soak -- --seconds ${seconds} --out DIRECTORY\`.`,
    problems.length === 0 ? 'No trend, nothing left, no wrong answer.' : problemList(problems),
    '![Memory and descriptors over time](soak.svg)',
    '## What the server held',
    `Medians of the first and the last third after a quarter of warm-up, ${samples.length} samples. A trend is a last third ` +
      'above 1.1 × the first plus the slack.',
    table(
      ['', 'first third', 'last third', 'slack', 'verdict'],
      trends.map(({ label, unit, scale, slack, first, last, grows }) => [
        unit === '' ? label : `${label}, ${unit}`,
        ...[first, last, slack].map((value) => number(value / scale)),
        grows ? 'grows' : 'level',
      ]),
    ),
    '## What it did',
    table(
      ['', 'rounds'],
      Object.entries(rounds).map(([name, count]) => [name, String(count)]),
    ),
  ].join('\n\n');
}

function problemList(problems) {
  return `**Failed:**\n\n${problems.map((each) => `- ${each}`).join('\n')}`;
}

function commit() {
  try {
    return ` (${execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()})`;
  } catch {
    return '';
  }
}

function number(value) {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

function table(head, rows) {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
