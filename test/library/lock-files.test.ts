import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Entry {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** The bundler's builds that could not be had where the file was made: installed from the registry all the same, unchecked. */
const WITHOUT_HASH = [
  'android-arm-eabi',
  'android-arm64',
  'darwin-arm64',
  'darwin-x64',
  'freebsd-x64',
  'linux-arm-gnueabihf',
  'linux-arm64-musl',
  'linux-ppc64-gnu',
  'linux-s390x-gnu',
  'linux-x64-musl',
  'openharmony-arm64',
  'win32-arm64-msvc',
  'win32-x64-msvc',
].map((platform) => `node_modules/@rolldown/binding-${platform}`);

function entriesOf(file: string): [string, Entry][] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };
  // The entry without a name is the project itself.
  return Object.entries(packages).filter(([name]) => name !== '');
}

describe.each([
  ['package-lock.json', WITHOUT_HASH],
  ['interop/package-lock.json', []],
  ['scripts/api-reference/package-lock.json', []],
])('%s', (file, exceptions) => {
  const entries = entriesOf(file);

  test('has a hash for every package, on every platform', () => {
    const unchecked = entries.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
    expect(unchecked.map(([name]) => name)).toEqual(exceptions);
    // None of them is part of what users run.
    expect(unchecked.filter(([, { dev, optional }]) => !dev || !optional)).toEqual([]);
  });

  test('names no host to fetch from', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

test('npm leaves the host out for everybody', () => {
  const config = readFileSync(new URL('../../.npmrc', import.meta.url), 'utf8');
  expect(config).toMatch(/^omit-lockfile-registry-resolved=true$/m);
});
