import { chownSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { DEFAULT_PROTECTED_NAMES } from '../../src/policy/internal.js';
import { SCRIPT_FD } from '../../src/host/sandbox/launch/launch-script.js';
import type { Identity, Place } from '../host/sandbox/harness.js';

/** A shell that waits in a sandbox to become a program. */
export interface WaitingShell {
  readonly pid: number;
  /** What a program that runs in the same sandbox sees as its own. */
  readonly namespace: string;
}

/** Says in which sandbox it runs. */
export const NAMESPACE = 'readlink /proc/self/ns/mnt';

/** Those below a process. */
export function waitingShells(serverPid: number): WaitingShell[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).flatMap((pid) => {
    try {
      const [program = '', script] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!/(^|\/)(da)?sh$/.test(program) || script !== `/proc/self/fd/${SCRIPT_FD}`) return [];
      if (!descendsFrom(pid, serverPid)) return [];
      return [{ pid, namespace: readlinkSync(`/proc/${pid}/ns/mnt`) }];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
}

function descendsFrom(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1; ) {
    if (at === ancestor) return true;
    at = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${at}/status`, 'utf8'))?.[1]);
  }
  return false;
}

/** Resolves with the one that waits, once programs have followed each other. */
export async function untilOneWaits(
  serverPid: number,
  runOne: () => Promise<unknown>,
): Promise<WaitingShell> {
  for (let round = 0; round < 20; round += 1) {
    await runOne();
    for (let look = 0; look < 20; look += 1) {
      const [waiting] = waitingShells(serverPid);
      if (waiting) return waiting;
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  }
  return expect.fail('no sandbox is made ahead');
}

/** With the names that are protected there already, no placeholder is needed, and a sandbox waits for seconds. */
export function makeProtected({ workspace }: Place, { uid }: Identity): void {
  for (const name of DEFAULT_PROTECTED_NAMES) {
    mkdirSync(join(workspace, name), { recursive: true });
    if (uid !== undefined) chownSync(join(workspace, name), uid, uid);
  }
}
