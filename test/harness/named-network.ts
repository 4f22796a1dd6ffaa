// Needs: bwrap
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bin } from '../../testkit/launch.mjs';
import type { Identity } from '../host/sandbox/harness.js';
import { asIdentity } from './confined-server.js';

const PROGRAM = fileURLToPath(new URL('../fixtures/named-network.mjs', import.meta.url));

const LIMIT_MS = 100_000;

/** Where the site of such a network listens, on every address. */
export const SITE_PORT = 8_000;

export interface NamedNetwork {
  readonly identity: Identity;
  /** What a name leads to: at first, at the second question, and so on. */
  readonly names: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Of the identity. The site serves it. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Visit {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  /** Each request that the site got: `ADDRESS HOST/PATH`. */
  readonly heard: readonly string[];
  /** How often each name was asked for. */
  readonly asked: Readonly<Record<string, number>>;
}

/** Calls `execwire` with these arguments on a machine whose network and names are ours. */
export async function runOnNamedNetwork(
  { identity, names, directory, env = {} }: NamedNetwork,
  args: readonly string[],
): Promise<Visit> {
  const [resolver, hosts] = [join(directory, 'resolv.conf'), join(directory, 'hosts')];
  writeFileSync(resolver, 'nameserver 127.0.0.1\n');
  writeFileSync(hosts, '127.0.0.1 localhost\n');
  const isRoot = process.getuid?.() === 0 && identity.uid === undefined;
  // The name server needs its usual port.
  const user = isRoot ? [] : ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'];
  const files = ['--bind', resolver, '/etc/resolv.conf', '--bind', hosts, '/etc/hosts'];
  const plan = { names, directory, port: SITE_PORT, argv: [process.execPath, bin, ...args], env };
  const [program = '', ...argv] = [
    ...asIdentity(identity),
    ...['bwrap', '--dev-bind', '/', '/', '--unshare-net', ...user, ...files, '--die-with-parent', '--'],
    ...[process.execPath, PROGRAM, JSON.stringify(plan)],
  ];
  const own = { ...process.env, HOME: directory, XDG_RUNTIME_DIR: '' };
  const { stdout } = await promisify(execFile)(program, argv, { env: own, timeout: LIMIT_MS });
  return JSON.parse(stdout) as Visit;
}
