import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signalOne } from '../../testkit/signal-one.mjs';
import { gone, pidsWithArgument } from '../harness/processes.js';
import { SshMachine } from '../harness/ssh-machine.js';

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
    for (const pid of clients) signalOne(pid, 'SIGKILL');
    expect(await busy.wait()).toMatchObject({ kind: 'contactLost' });
    await gone(mark);
  });
});

/** The ssh clients that carry a server: not the one whose connection they share. */
function clientsTo(machine: SshMachine): number[] {
  return pidsWithArgument(machine.folder.file('user')).filter((pid) => pid !== machine.masterPid);
}
