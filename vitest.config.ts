import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { filesLeftOut } from './test/harness/needed-programs.js';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  // Node 20 has no `using` syntax; the compiler lowers it as the build does.
  oxc: { target: 'es2022' },
  test: {
    include: ['test/**/*.test.ts'],
    // What needs a program that is missing here is named at the end of the run.
    exclude: [...configDefaults.exclude, ...filesLeftOut(root).map(({ file }) => file)],
    reporters: ['default', './test/harness/failed-files-reporter.ts', './test/harness/count-reporter.ts'],
    // Nothing is left in the state directory of whoever runs the tests.
    globalSetup: './test/harness/own-state.ts',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The default of a second is what a busy machine may need for a single look.
    expect: { poll: { timeout: 10_000 } },
    // Tests start real processes, and wait for them half of the time. With more workers than this, they wait for each other.
    pool: 'forks',
    maxWorkers: 3,
  },
});
