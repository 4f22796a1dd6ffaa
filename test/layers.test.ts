import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = join(dirname(fileURLToPath(import.meta.url)), '..', 'src');

/** What each folder of src/ may import, beside itself. ARCHITECTURE.md shows the same table. */
const mayImport: Record<string, readonly string[]> = {
  protocol: [],
  contract: ['protocol'],
  rpc: ['protocol'],
  transport: ['rpc', 'protocol'],
  host: ['contract', 'protocol'],
  client: ['contract', 'protocol', 'rpc', 'transport'],
  server: ['contract', 'protocol', 'rpc', 'transport', 'host'],
  environment: ['contract', 'protocol', 'transport', 'host', 'client'],
  tools: ['contract', 'protocol'],
  app: ['contract', 'protocol', 'rpc', 'transport'],
  mcp: ['tools', 'environment', 'contract', 'protocol'],
  conformance: ['protocol', 'transport'],
  cli: [
    'protocol',
    'contract',
    'rpc',
    'transport',
    'host',
    'client',
    'server',
    'environment',
    'tools',
    'app',
    'mcp',
    'conformance',
  ],
};

function sources(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(src, name));
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
}

function folderOf(file: string): string {
  return relative(src, file).split(sep)[0] ?? '';
}

describe('layers', () => {
  test('every folder imports only what the table allows', () => {
    const broken: string[] = [];
    for (const file of sources()) {
      const from = folderOf(file);
      if (from === 'index.ts') continue;
      for (const target of importsOf(file)) {
        if (!target.startsWith('.')) continue;
        const to = folderOf(resolve(dirname(file), target));
        if (to !== from && !mayImport[from]?.includes(to))
          broken.push(`${relative(src, file)} imports ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('no barrel re-exports everything', () => {
    const greedy = sources().filter((file) => /export \* from/.test(readFileSync(file, 'utf8')));
    expect(greedy.map((file) => relative(src, file))).toEqual([]);
  });
});
