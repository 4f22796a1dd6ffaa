import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const index = readFileSync(`${docs}README.md`, 'utf8');

test('the index lists every guide once, in a numbered order', () => {
  const items = [...index.matchAll(/^(\d+)\. \[[^\]]+\]\(guides\/([\w-]+\.md)\)/gm)];
  expect(items.map(([, number]) => Number(number))).toEqual(items.map((_, at) => at + 1));
  const names = items.map(([, , name = '']) => name);
  expect(names.sort()).toEqual(readdirSync(`${docs}guides`).sort());
});

test('a guide is listed under the title it has', () => {
  for (const [, title = '', name = ''] of index.matchAll(/^\d+\. \[([^\]]+)\]\(guides\/([\w-]+\.md)\)/gm)) {
    const [heading = ''] = readFileSync(`${docs}guides/${name}`, 'utf8').split('\n', 1);
    expect(heading).toContain(title);
  }
});
