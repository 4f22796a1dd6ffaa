import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** The numbered steps of a section. The first file a step names is where the walk goes; others are mentioned in passing. */
interface Walk {
  readonly title: string;
  readonly steps: readonly string[];
}

const LINK = /\]\((src\/[^)#]+)\)/g;

function walks(): Walk[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n', 1);
      const items = section.split(/^(?=\d+\. )/m).filter((item) => /^\d+\. /.test(item));
      return { title, steps: items.flatMap((item) => [...item.matchAll(LINK)][0]?.[1] ?? []) };
    })
    .filter(({ steps }) => steps.length > 1);
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.\.?\/[^']+)'/g)].map(([, target = '']) =>
    relative(root, resolve(root, dirname(file), target)).replace(/\.js$/, '.ts'),
  );
}

/** Directly, or through the doors of rooms that hand it on. */
function imports(from: string, to: string): boolean {
  return importsOf(from).some(
    (target) => target === to || (/\/(index|internal)\.ts$/.test(target) && imports(target, to)),
  );
}

test('every file the page names is there', () => {
  const named = [...page.matchAll(/\]\(((?:src|test|scripts|bench|docs)\/[^)#]+)\)/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the walks are these', () => {
  expect(walks().map(({ title }) => title)).toEqual([
    'A byte, from child to caller',
    'A request, from socket to spawn',
    'A file, from disk to caller',
    'A policy, from request to kernel',
    'A tool call, from model to answer',
  ]);
});

describe.each(walks())('$title', ({ steps }) => {
  test('each step leads to the next: one imports the other', () => {
    expect(steps.filter((step) => !statSync(join(root, step)).isFile())).toEqual([]);
    const broken = steps.slice(1).flatMap((to, index) => {
      const from = steps[index] ?? '';
      return imports(from, to) || imports(to, from) ? [] : [`${from} and ${to}`];
    });
    expect(broken).toEqual([]);
  });
});
