import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isExecError, openEnvironment } from '../../src/index.js';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';

const stub = fileURLToPath(new URL('../fixtures/exec-stub.mjs', import.meta.url));

/** Opens an environment whose program has a quirk. Its last argument is `mark`, to find it by. */
async function openQuirk(folder: TestFolder, quirk: string, mark: string): Promise<AsyncDisposable> {
  writeFileSync(
    folder.file('environments.toml'),
    `default = "odd"
[[environments]]
id = "odd"
program = "${process.execPath}"
args = ["${stub}", "${quirk}", "sh", "${mark}"]
${quirk === 'silent' ? 'initialize_timeout_sec = 0.5' : ''}
`,
  );
  return await openEnvironment('odd', { variables: { ...process.env, EXECWIRE_HOME: folder.path } });
}

describe('an environment behind a program', () => {
  test.each([
    ['dies', 'connectionClosed', /^Environment "odd" cannot be reached: .*exit status 3\.$/],
    ['silent', 'requestTimeout', /^Environment "odd" cannot be reached: .*500 ms/],
    ['babble', 'connectionClosed', /^Environment "odd" cannot be reached: .*does not speak the protocol/],
  ])('that %s fails with its id and the reason, and leaves nothing running', async (quirk, code, message) => {
    using folder = new TestFolder();
    const mark = `mark-${quirk}-${process.pid}-${Date.now()}`;
    const failure: unknown = await openQuirk(folder, quirk, mark).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(isExecError(failure) && failure.data).toEqual({ environmentId: 'odd' });
    await gone(mark);
  });

  test('that ignores SIGTERM is killed all the same', async () => {
    using folder = new TestFolder();
    const mark = `mark-ignores-${process.pid}-${Date.now()}`;
    const environment = await openQuirk(folder, 'ignores-term', mark);
    expect(pidsWithArgument(mark)).toHaveLength(1);
    await environment[Symbol.asyncDispose]();
    expect(pidsWithArgument(mark)).toEqual([]);
  });
});
