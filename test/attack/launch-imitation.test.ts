import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits, waitingShells } from '../harness/waiting-sandbox.js';
import { sh } from '../../testkit/wire-client.mjs';
import { identities, Place } from '../host/sandbox/harness.js';

/** What a launch that failed looks like, to those who only look at words. */
const WORDS = [
  "/usr/bin/./env: 'tool': No such file or directory",
  "/bin/./env: 'tool': Permission denied",
  '/proc/self/fd/6: 9: exec: tool: not found',
  "/proc/self/fd/6: 2: cd: can't cd to /work",
  'bwrap: execvp tool: No such file or directory',
];
const IMITATIONS = WORDS.flatMap((words) => [126, 127].map((status) => ({ words, status })));

/** Says it and ends, before anybody looks. */
const imitate = (words: string, status: number) => [...sh(`printf '%s\\n' "$0" >&2; exit ${status}`), words];

describe.each(identities)('a program of $name that imitates a launch that failed', (identity) => {
  test('has run, and is reported with its own end', async () => {
    const place = new Place(identity);
    makeProtected(place, identity);
    await using host = await ConfinedServer.start(identity, { place });
    for (const [index, words] of WORDS.entries()) {
      const status = 126 + (index % 2);
      const { pid } = await untilOneWaits(host.server.pid, () => host.run(['true']));
      const { text, exit } = await host.run(imitate(words, status));
      expect(text).toBe(`${words}\n`);
      expect(exit).toMatchObject({ exitCode: status });
      expect(waitingShells(host.server.pid).map((shell) => shell.pid)).not.toContain(pid);
    }
  }, 120_000);

  test('has nothing open through which a launch is reported', async () => {
    const place = new Place(identity);
    makeProtected(place, identity);
    await using host = await ConfinedServer.start(identity, { place });
    await untilOneWaits(host.server.pid, () => host.run(['true']));
    const everywhere = 'for fd in 3 4 5 6 7 8 9; do { echo failed >&$fd; } 2>/dev/null && echo $fd; done';
    const { text, exit } = await host.run(sh(`${everywhere}; exit 127`));
    expect(text).toBe('');
    expect(exit).toMatchObject({ exitCode: 127 });
  });

  test('has run in a sandbox made for it, too', async () => {
    await using host = await ConfinedServer.start(identity);
    for (const { words, status } of IMITATIONS)
      for (const more of [{ arg0: 'other' }, { tty: true }]) {
        const { text, exit } = await host.run(imitate(words, status), more);
        expect(text.trimEnd()).toBe(words);
        expect(exit).toMatchObject({ exitCode: status });
      }
  });
});
