import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { Environment, ProcessSpec } from '../../src/contract/index.js';
import { asIdentity } from '../harness/confined-server.js';
import { seededRandom } from '../harness/random.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { identities, Place } from '../host/sandbox/harness.js';
import { busyMachine, inParallel } from './busy-machine.js';
import { limitMs, tally, tries } from './tally.js';

const COMMANDS = tries(200);
const LIMIT_MS = limitMs(60_000);

/** What a command must say and how it must end. */
interface Expected {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

interface Command {
  readonly spec: ProcessSpec;
  readonly input?: string;
  readonly expected: Expected;
}

/** Counts to a number on both streams, then exits as told. */
const COUNT =
  'i=0; while [ $i -lt $1 ]; do echo "$0 out $i"; echo "$0 err $i" >&2; i=$((i+1)); done; exit $2';

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}\n`).join('');

/** A command made of a number: the same in every run, no two alike. */
function commandOf(index: number, workspace: string): Command {
  const random = seededRandom(index + 1);
  const count = Math.floor(random() * 40);
  const exitCode = Math.floor(random() * 200);
  const name = `n${index}`;
  const counting = ['/bin/sh', '-c', COUNT, name, String(count), String(exitCode)];
  const plain = { stdout: numbered(`${name} out`, count), stderr: numbered(`${name} err`, count), exitCode };
  switch (index % 5) {
    case 0:
      return { spec: { argv: counting }, expected: plain };
    case 1:
      return { spec: { argv: counting, sandbox: readOnly(workspace) }, expected: plain };
    case 2: {
      const lines = Array.from({ length: count }, (_, at) => `${name} out ${at}\r\n${name} err ${at}\r\n`);
      return {
        spec: { argv: counting, tty: true },
        expected: { stdout: lines.join(''), stderr: '', exitCode },
      };
    }
    case 3: {
      const input = numbered(name, count * 50);
      const spec = { argv: ['/bin/cat'], pipeStdin: true };
      return { spec, input, expected: { stdout: input, stderr: '', exitCode: 0 } };
    }
    default: {
      // The last bytes come from somebody the command left behind.
      const script = `printf %s "$0"; (printf %s late; head -c ${count * 1000} /dev/zero | tr '\\0' x) & exit ${exitCode}`;
      const stdout = `${name}late${'x'.repeat(count * 1000)}`;
      return { spec: { argv: ['/bin/sh', '-c', script, name] }, expected: { stdout, stderr: '', exitCode } };
    }
  }
}

function readOnly(workspace: string): NonNullable<ProcessSpec['sandbox']> {
  const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' } as const;
  return {
    permissions: {
      type: 'managed',
      file_system: { type: 'restricted', entries: [root] },
      network: 'restricted',
    },
    cwd: pathToFileURL(workspace).href,
  };
}

const digest = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

/** Runs a command and says what came of it, with digests instead of bytes. */
async function play(environment: Environment, { spec, input }: Command): Promise<object> {
  const child = await environment.start({ env: { PATH: '/usr/bin:/bin' }, cwd: '/', ...spec });
  const parts: { out: Uint8Array[]; err: Uint8Array[] } = { out: [], err: [] };
  let exitCode = -1;
  const typing = (async () => {
    if (input === undefined) return;
    for (let at = 0; at < input.length; at += 700) await child.write(input.slice(at, at + 700));
    await child.closeStdin();
  })();
  for await (const event of child.events()) {
    if (event.type === 'gap') throw new Error(`${event.lostBytes} bytes were let go`);
    if (event.type === 'output') parts[event.stream === 'stderr' ? 'err' : 'out'].push(event.bytes);
    if (event.type === 'exited') exitCode = event.exitCode;
  }
  await typing;
  return { stdout: digest(Buffer.concat(parts.out)), stderr: digest(Buffer.concat(parts.err)), exitCode };
}

describe.each(identities)('short commands of a server run by $name on a busy machine', (identity) => {
  test(`${COMMANDS} say exactly what they should`, { timeout: LIMIT_MS }, async () => {
    using place = new Place(identity);
    await using server = await ServerProcess.start({
      args: ['--log-level', 'silent'],
      wrapper: asIdentity(identity),
      env: { HOME: place.base },
    });
    await using environment = await RemoteEnvironment.connect({
      id: 'short',
      dial: () => dialWebSocket(server.url),
      resume: true,
    });
    using _busy = busyMachine();
    const wrong: unknown[] = [];
    await inParallel({ count: COMMANDS, width: 8 }, async (index) => {
      const command = commandOf(index, place.workspace);
      const { stdout, stderr, exitCode } = command.expected;
      const expected = { stdout: digest(stdout), stderr: digest(stderr), exitCode };
      const met = await play(environment, command).catch((error: unknown) => String(error));
      if (JSON.stringify(met) !== JSON.stringify(expected)) wrong.push({ index, met, expected });
    });
    tally(`short commands, ${identity.name}`, { tries: COMMANDS, successes: wrong.length });
    expect(wrong).toEqual([]);
  });
});
