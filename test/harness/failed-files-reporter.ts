import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const VARIABLE = 'EXECWIRE_FAILED_FILES';

/** What `scripts/second-look.mjs` needs to run the failed files again. */
export interface FailedFiles {
  readonly config: string;
  readonly files: readonly string[];
  /** The full names of the tests that failed. */
  readonly tests: readonly string[];
  readonly passed: number;
  readonly skipped: number;
}

/** Writes down which files failed, in the file that `EXECWIRE_FAILED_FILES` names. */
export default class FailedFilesReporter implements Reporter {
  readonly #target = process.env[VARIABLE];
  #config = '';

  constructor() {
    // Tests that run other tests have nothing to say about this run.
    delete process.env[VARIABLE];
  }

  onInit(vitest: Vitest): void {
    this.#config = vitest.vite.config.configFile || '';
  }

  /** Errors outside of any test belong to no file, so there is nothing that could be run again. */
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    if (this.#target === undefined || unhandled.length > 0) return;
    const failed = modules.filter((module) => !module.ok());
    const found: FailedFiles = {
      config: this.#config,
      files: failed.map(({ moduleId }) => moduleId),
      tests: failed.flatMap((module) =>
        [...module.children.allTests('failed')].map(
          ({ fullName }) => `${module.relativeModuleId} > ${fullName}`,
        ),
      ),
      passed: count(modules, 'passed'),
      skipped: count(modules, 'skipped'),
    };
    writeFileSync(this.#target, JSON.stringify(found));
  }
}

function count(modules: readonly TestModule[], state: 'passed' | 'skipped'): number {
  return modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
}
