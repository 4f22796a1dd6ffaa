import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Node 20 has no `using` syntax; the compiler lowers it as the build does.
  oxc: { target: 'es2022' },
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['**/*.test.ts'],
    reporters: [
      'default',
      fileURLToPath(new URL('../test/harness/failed-files-reporter.ts', import.meta.url)),
    ],
    // Above one Codex run and one wait at their own limits: those report what they know and stop what they started.
    testTimeout: 180_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
