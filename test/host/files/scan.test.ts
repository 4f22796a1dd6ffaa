import { writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { codeOf } from '../../contract/file-bench.js';
import { fileSearchContract } from '../../contract/file-search.contract.js';
import { benchDirectory } from './bench-directory.js';

/** As on a machine without it. */
vi.mock(import('../../../src/host/kernel/trusted-path.js'), async (original) => ({
  ...(await original()),
  trustedProgram: () => null,
}));

fileSearchContract('local without ripgrep', async () => ({
  files: new LocalFileSystem(),
  [Symbol.asyncDispose]: async () => undefined,
}));

describe('the built-in search', () => {
  test('ends an expression that does not come to an end', async () => {
    using bench = benchDirectory();
    writeFileSync(bench.at('file'), `${'a'.repeat(50)}!`);
    const query = { pattern: '^(a+)+$', regex: true };
    expect(await codeOf(new LocalFileSystem().search(bench.at(), query))).toBe('invalidParams');
  });
});
