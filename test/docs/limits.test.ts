import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/reference/limits.md'), 'utf8');

/** The cells that say what changes a limit. Values and codes of errors are checked where the page is generated. */
const options = [...page.matchAll(/^\|[^|]+\|[^|]+\|([^|]*`[^|]*)\|/gm)].map(([, cell = '']) => cell);

function sourcesIn(folder: string): string {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'))
    .join('\n');
}

test('the page of limits names options that commands and the library have', () => {
  const named = options.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  const flags = named.filter((name) => name.includes('--')).map((name) => name.replace(/^\w+ /, ''));
  const members = named.filter((name) => !name.includes('--')).flatMap((name) => name.split('.'));
  expect(flags.length).toBeGreaterThan(10);
  expect(members.length).toBeGreaterThan(10);
  const [commands, all] = [sourcesIn('src/cli'), sourcesIn('src')];
  expect(flags.filter((flag) => !commands.includes(`'${flag} <`))).toEqual([]);
  expect(members.filter((name) => !new RegExp(`\\b${name}\\??:`).test(all))).toEqual([]);
});
