import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isExecError, openEnvironment } from '../../src/index.js';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';
import { SshMachine } from '../harness/ssh-machine.js';

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

describe('an environment behind ssh', () => {
  let machine: SshMachine;
  beforeAll(async () => {
    machine = await SshMachine.start();
    // What a shell says before the server can.
    writeFileSync(
      machine.folder.file('greeting'),
      'echo Welcome to the far side; echo; printf "\\033[1mnews\\033[0m\\n"\n',
    );
  });
  afterAll(() => machine[Symbol.asyncDispose]());

  test('a greeting of the shell there is no obstacle', async () => {
    const said: string[] = [];
    await using environment = await machine.open('far', { onLog: (line) => said.push(line) });
    await using child = await environment.start({ argv: ['echo', 'hello'] });
    expect(await child.text()).toBe('hello\n');
    expect(said.filter((line) => line.includes('skipped'))).toHaveLength(2);
  });

  test.each(['alone', 'far'] as const)('a killed ssh client leaves nothing running there, %s', async (id) => {
    const mark = `mark-ssh-${id}-${process.pid}-${Date.now()}`;
    await using environment = await machine.open(id);
    // The one in a session of its own says that it runs.
    const script = `setsid sh -c 'echo ready; sleep 1000; :' ${mark} & sleep 1000`;
    const busy = await environment.start({ argv: ['sh', '-c', script, mark] });
    await busy.events().next();
    expect(pidsWithArgument(mark).length).toBeGreaterThan(1);
    const clients = clientsTo(machine);
    expect(clients).toHaveLength(1);
    for (const pid of clients) process.kill(pid, 'SIGKILL');
    expect(await busy.wait()).toMatchObject({ kind: 'contactLost' });
    await gone(mark);
  });
});

/** The ssh clients that carry a server: not the one whose connection they share. */
function clientsTo(machine: SshMachine): number[] {
  return pidsWithArgument(machine.folder.file('user')).filter((pid) => pid !== machine.masterPid);
}
