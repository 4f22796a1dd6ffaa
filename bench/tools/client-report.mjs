import { readFileSync, writeFileSync } from 'node:fs';
import { number, table } from '../lib/table.mjs';
import { tasks } from './tasks/index.mjs';

const README = new URL('README.md', import.meta.url);
const BEGIN = '<!-- clients: written by npm run bench:tools:clients -->';
const END = '<!-- end of clients -->';

/** Tokens of each task in each client, with our tools and with its own. */
export function writeClientReport(results) {
  const titles = Object.keys(results);
  const row = (title, of) => [title, ...titles.map((each) => number(of(results[each])))];
  const sum = ({ definitions, tasks: costs }) =>
    Object.values(costs).reduce((all, one) => all + one, definitions);
  const rows = [
    ...tasks.map(({ name, title }) => row(title, (result) => result.tasks[name])),
    row('tool definitions, once', ({ definitions }) => definitions),
    row('together', sum),
  ];
  const text = readFileSync(README, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < 0) throw new Error('bench/tools/README.md lacks the markers of the clients.');
  const shown = `${BEGIN}\n\n${table(['task', ...titles], rows)}\n\n`;
  writeFileSync(README, `${text.slice(0, before)}${shown}${text.slice(after)}`);
}
