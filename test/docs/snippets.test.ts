import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/index.js';
import { PackedPackage } from '../harness/packed-package.js';
import { documents, type Snippet, snippetsOf } from './documents.js';

const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
const snippets = documents.flatMap(snippetsOf).filter(({ kind }) => ['js', 'ts'].includes(kind));

/** What a snippet may take from the text around it. Whatever it declares itself comes before these. */
const SURROUNDINGS = `
declare const env: import('execwire').Environment;
declare const serving: Awaited<ReturnType<typeof import('execwire/server').serve>>;
declare const branch: string;
declare const target: string;
declare const files: string[];
`;

/** Packing, and compiling against it, on a busy machine. */
const SLOW_MS = 120_000;

let installed: PackedPackage;
beforeAll(() => {
  installed = new PackedPackage();
}, SLOW_MS);
afterAll(() => installed[Symbol.dispose]());

const fileOf = ({ at }: Snippet): string => `${at.replaceAll(/\W/g, '-')}.ts`;

test('every snippet compiles against the package as it is published', { timeout: SLOW_MS }, () => {
  expect(snippets.length).toBeGreaterThan(8);
  const at = (name: string): string => join(installed.project, name);
  writeFileSync(at('surroundings.d.ts'), SURROUNDINGS);
  for (const snippet of snippets) writeFileSync(at(fileOf(snippet)), `${snippet.text}\nexport {};\n`);
  writeFileSync(at('package.json'), '{ "type": "module" }');
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
  };
  writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const { status, stdout } = spawnSync(tsc, ['-p', installed.project], { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('the result of a command has the members the guide shows', async () => {
  const guide = readFileSync(new URL('../../docs/guides/library.md', import.meta.url), 'utf8');
  const shown = /console\.log\(result\);\n```\n\n((?: {4}.*\n)+)/.exec(guide)?.[1] ?? '';
  const members = [...shown.matchAll(/^ {6}(\w+): (.*?),?$/gm)].map(([, name, value]) => [name, value]);
  expect(members.length).toBeGreaterThan(5);

  await using env = new LocalEnvironment();
  const result = await env.run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
  expect(members.map(([name]) => name)).toEqual(Object.keys(result));
  expect(Object.fromEntries(members)).toMatchObject({
    stdout: String.raw`'${result.stdout.trim()}\n'`,
    stderr: String.raw`'${result.stderr.trim()}\n'`,
    exitCode: String(result.exitCode),
    signal: String(result.signal),
    timedOut: String(result.timedOut),
  });
});
