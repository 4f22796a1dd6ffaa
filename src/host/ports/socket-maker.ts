import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ExecError } from '../../protocol/errors.js';
import { linkTarget, ownerNamespace, receiveMessage, socketPair, trustedProgram } from '../kernel/index.js';
import { packageFile } from '../kernel/package-file.js';
import type { SandboxNetwork } from './sandbox-networks.js';

/** Node starts in a tenth of a second, or in several seconds on a very busy machine. */
const START_LIMIT_MS = 15_000;

/** The descriptor over which the helper passes the sockets. */
const HAND_OVER_FD = 3;

/**
 * Creates sockets in the network of a sandbox. Entering it requires joining the user namespace that owns it, which a
 * multithreaded process cannot do. So a helper enters, creates the sockets and exits; nothing of ours stays inside.
 */
export async function makeSockets({ name, pid }: SandboxNetwork, count: number): Promise<number[]> {
  const nsenter = trustedProgram('nsenter');
  if (nsenter === null) throw noEntrance('nsenter (util-linux) is not installed');
  const [ours, theirs] = socketPair();
  let namespaces: readonly number[] = [];
  try {
    namespaces = openNamespaces(pid);
    const [net = -1] = namespaces;
    // The process may have ended, and its pid may belong to another one.
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

/** Opens the network and, unless it is ours, the user namespace that owns it. */
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

/** Uses our own descriptors, which nobody can replace. */
function entrance([net, user]: readonly number[]): string[] {
  const path = (fd: number | undefined): string => `/proc/${process.pid}/fd/${fd}`;
  const users = user === undefined ? [] : [`--user=${path(user)}`, '--preserve-credentials'];
  return [...users, `--net=${path(net)}`];
}

function noEntrance(why: string): ExecError {
  return new ExecError('portRefused', `The network of the sandbox cannot be entered: ${why}.`);
}
