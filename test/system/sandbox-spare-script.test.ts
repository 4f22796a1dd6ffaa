import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { asIdentity, ConfinedServer } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { Place } from '../host/sandbox/harness.js';

/** Nobody else can be another user. */
const isRoot = process.getuid?.() === 0;

/** Of nobody else, so that no other test has small pipes. */
const crowded = { name: 'a user with many pipes', uid: 54_322 };

/** 1031 is F_SETPIPE_SZ. Beyond 64 MiB the kernel gives a user only two pages for each further pipe. */
const HOLD_PIPES = `for (1..70) { pipe(my $r, my $w) or die; fcntl($w, 1031, 1 << 20); push @kept, $r, $w }
$| = 1; print "held"; <STDIN>`;

test.runIf(isRoot)('a program gets all its arguments where pipes are small', async () => {
  const [command, ...args] = [...asIdentity(crowded), 'perl', '-e', HOLD_PIPES];
  const holder = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  const place = new Place(crowded);
  makeProtected(place, crowded);
  await using host = await ConfinedServer.start(crowded, { place });
  await untilOneWaits(host.server.pid, () => host.run(['true']));
  const words = Array.from({ length: 5_000 }, (_, index) => `w${index}`);
  const { text } = await host.run(['sh', '-c', 'echo $#', ...words]);
  expect(text).toBe('4999\n');
  holder.stdin.end();
  await once(holder, 'exit');
});
