import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';
import { filesLeftOut } from './needed-programs.js';

/** Ends a run with what could not be tried here, and one plain line that says how many tests passed and failed. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      if (module.errors().length > 0) counts.failed += 1;
    }
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const leftOut = filesLeftOut(root).map(({ file, why }) => `${file}: ${why}`);
    if (leftOut.length > 0) console.log(['Left out on this machine:', ...leftOut].join('\n  '));
    const skipped = counts.skipped + counts.pending;
    console.log(
      `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    );
  }
}
