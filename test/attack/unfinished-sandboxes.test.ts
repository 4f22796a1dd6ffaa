// Needs: bwrap, setpriv
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { asIdentity } from '../harness/confined-server.js';
import { identities, Place } from '../host/sandbox/harness.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';
import { limitMs, tally, tries } from './tally.js';

/** How often bubblewrap has to be caught while its first process inside waits to be let go. */
const CAUGHT = tries(3);
const MAX_ROUNDS = CAUGHT * 20;
/** Longer than it takes to start bubblewrap on a busy machine. */
const LOOK_MS = 2_000;
const GONE_MS = 10_000;

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

const childrenOf = (pid: number): number[] =>
  read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

const isBwrap = (pid: number): boolean => read(`/proc/${pid}/comm`) === 'bwrap';

const isRunning = (pid: number): boolean => /^State:\t[^ZX]/m.test(read(`/proc/${pid}/status`));

interface Unfinished {
  readonly outer: number;
  readonly inner: number;
}

/** Stops bubblewrap before it lets its first process inside go. Undefined if it was too fast. */
async function catchUnfinished(server: number): Promise<Unfinished | undefined> {
  const deadline = performance.now() + LOOK_MS;
  while (performance.now() < deadline) {
    // Without a pause in between: it takes a fraction of a millisecond.
    for (let look = 0; look < 500; look += 1)
      for (const outer of childrenOf(server).filter(isBwrap)) {
        const [inner] = childrenOf(outer);
        if (inner === undefined) continue;
        signalOne(outer, 'SIGSTOP');
        await pause(5);
        return isUnfinished(inner) ? { outer, inner } : undefined;
      }
    await pause(0);
  }
  return undefined;
}

/** Whether it still waits to be let go. The first thing it then does is to mount a new root. */
function isUnfinished(inner: number): boolean {
  return (
    isBwrap(inner) && childrenOf(inner).length === 0 && !read(`/proc/${inner}/mounts`).includes('newroot')
  );
}

describe.each(identities)('a server run by $name', (identity) => {
  test('that is killed while it makes a sandbox for files leaves nothing behind', {
    timeout: limitMs(120_000),
  }, async () => {
    let caught = 0;
    const left: number[] = [];
    for (let round = 0; round < MAX_ROUNDS && caught < CAUGHT; round += 1) {
      using place = new Place(identity);
      await using server = await ServerProcess.start({
        args: ['--log-level', 'silent'],
        wrapper: asIdentity(identity),
      });
      const { client } = await dialWire(server.url);
      await client.handshake();
      const uri = pathToFileURL(place.workspace).href;
      const special = { type: 'special', value: { kind: 'root' } };
      const permissions = {
        type: 'managed',
        file_system: { type: 'restricted', entries: [{ path: special, access: 'read' }] },
        network: 'restricted',
      };
      const params = { path: uri, sandbox: { permissions, cwd: uri, workspaceRoots: [uri] } };
      client.send(JSON.stringify({ id: 'list', method: 'fs/readDirectory', params }));
      const unfinished = await catchUnfinished(server.pid);
      await server.stop('SIGKILL');
      if (unfinished === undefined) continue;
      caught += 1;
      const deadline = performance.now() + GONE_MS;
      const running = (): number[] => [unfinished.inner, unfinished.outer].filter(isRunning);
      while (running().length > 0 && performance.now() < deadline) await pause(10);
      for (const pid of running()) {
        left.push(pid);
        signalOne(pid, 'SIGKILL');
      }
    }
    tally(`sandboxes for files that were not finished, ${identity.name}`, {
      tries: caught,
      successes: left.length,
    });
    expect({ caught, left }).toEqual({ caught: CAUGHT, left: [] });
  });
});
