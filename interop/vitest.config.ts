import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Node 20 has no `using` syntax; the compiler lowers it as the build does.
  oxc: { target: 'es2022' },
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['**/*.test.ts'],
    // Above the harness's own limit for one Codex run, so that the harness reports first, with everything it captured.
    testTimeout: 120_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
