import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openContent } from '../../../src/host/files/access/file-content.js';
import { hostPath } from '../../../src/host/kernel/host-path.js';
import { isLocalPlace } from '../../../src/host/files/cached/local-devices.js';
import { benchDirectory } from './bench-directory.js';

test('a disk is local; what a program or nobody answers for is not', async () => {
  using bench = benchDirectory();
  expect(await isLocalPlace(bench.at())).toBe(true);
  expect(await isLocalPlace('/proc')).toBe(false);
  expect(await isLocalPlace(bench.at('missing'))).toBe(false);
});

test('a large local file comes in pieces, a small one at once', async () => {
  using bench = benchDirectory();
  writeFileSync(bench.at('large'), Buffer.alloc(2 * 1024 * 1024));
  writeFileSync(bench.at('small'), 'small');
  expect(await openContent(hostPath(bench.at('small')), {})).toBeInstanceOf(Uint8Array);
  const content = await openContent(hostPath(bench.at('large')), {});
  if (content instanceof Uint8Array) throw new Error('it was read as a whole');
  await content.close();
});
