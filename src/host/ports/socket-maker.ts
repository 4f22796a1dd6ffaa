import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ExecError } from '../../protocol/errors.js';
import { linkTarget, ownerNamespace, receiveMessage, socketPair, trustedProgram } from '../kernel/index.js';
import { packageFile } from '../kernel/package-file.js';
import type { SandboxNetwork } from './sandbox-networks.js';

/** Node starts in a tenth of a second, on a very busy machine in several. */
const START_LIMIT_MS = 15_000;

/** The descriptor by which the helper hands over what it has made. */
const HAND_OVER_FD = 3;

/**
 * Makes sockets in the network of a sandbox. A process that enters it needs rights in the user namespace that owns it, which a
 * program with threads cannot get. So a helper enters, makes them and is gone: nothing of ours stays inside.
 */
export async function makeSockets({ name, pid }: SandboxNetwork, count: number): Promise<number[]> {
  const nsenter = trustedProgram('nsenter');
  if (nsenter === null) throw noEntrance('nsenter (util-linux) is not installed');
  const [ours, theirs] = socketPair();
  let namespaces: readonly number[] = [];
  try {
    namespaces = openNamespaces(pid);
    const [net = -1] = namespaces;
    // The process may have ended, and another may have its number.
    if (linkTarget(`/proc/self/fd/${net}`) !== name) throw noEntrance('it has ended');
    const script = fileURLToPath(packageFile('dist/programs/sockets.js'));
    const argv = [
      ...entrance(namespaces),
      '--',
      process.execPath,
      script,
      String(count),
      String(HAND_OVER_FD),
    ];
    const stdio = ['ignore', 'ignore', 'ignore', theirs] as const;
    const helper = spawn(nsenter, argv, { cwd: '/', env: {}, stdio: [...stdio], timeout: START_LIMIT_MS });
    await once(helper, 'exit');
    const message = receiveMessage(ours);
    const sockets = message === null || message === 'end' ? [] : [...message.descriptors];
    if (sockets.length === 0) throw noEntrance('no socket could be made in it');
    return sockets;
  } finally {
    for (const fd of [ours, theirs, ...namespaces]) closeSync(fd);
  }
}

/** The network, and the user namespace that owns it unless that is ours. */
function openNamespaces(pid: number): number[] {
  try {
    const net = openSync(`/proc/${pid}/ns/net`, 'r');
    const owner = ownerNamespace(net);
    if (linkTarget(`/proc/self/fd/${owner}`) !== linkTarget('/proc/self/ns/user')) return [net, owner];
    closeSync(owner);
    return [net];
  } catch {
    throw noEntrance('it has ended');
  }
}

/** By our own descriptors, which nobody can replace. */
function entrance([net, user]: readonly number[]): string[] {
  const path = (fd: number | undefined): string => `/proc/${process.pid}/fd/${fd}`;
  const users = user === undefined ? [] : [`--user=${path(user)}`, '--preserve-credentials'];
  return [...users, `--net=${path(net)}`];
}

function noEntrance(why: string): ExecError {
  return new ExecError('portRefused', `The network of the sandbox cannot be entered: ${why}.`);
}
