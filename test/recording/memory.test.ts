import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** What V8 may have for a log many times as large: whatever keeps it ends with a fatal error. */
const HEAP_MB = 48;

test.each([
  ['asciicast', 300],
  ['asciicast-v3', 300],
  ['text', 50],
  ['html', 50],
  ['svg', 50],
  ['svg-animated', 50],
])(
  'a recording as %s takes the same memory however long it is',
  { timeout: 120_000 },
  async (format, megabytes) => {
    const script = join(import.meta.dirname, 'long-recording.mjs');
    const args = [`--max-old-space-size=${HEAP_MB}`, script, format, String(megabytes)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { characters } = JSON.parse(stdout) as { characters: number };
    const isWhole = format.startsWith('asciicast') || format === 'text';
    expect(characters).toBeGreaterThan(isWhole ? megabytes * 700_000 : 1000);
  },
);
