import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { findProgram, linux, openInside, ownerNamespace } from '../../kernel/index.js';
import type { Mount } from '../plan/mount-plan.js';
import { mountsOf } from '../plan/mount-table.js';
import { isWithin, parentOf } from '../../../policy/internal.js';

const TOOL_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Entering and mounting takes a few milliseconds; anything longer hangs on a dead file system. */
const LIMIT_MS = 10_000;

/** Descriptor numbers of the tools. */
const MOUNTS = '/proc/self/fd/3';
const RIGHTS = '/proc/self/fd/4';
const TARGET = '/proc/self/fd/5';
const PARENT = '/proc/self/fd/6';
const NOTHING = '/proc/self/fd/7';

/** Mount options a copy must keep; inside a user namespace they cannot be dropped. */
const KEPT_OPTIONS: readonly string[] = [
  'nosuid',
  'nodev',
  'noexec',
  'nosymfollow',
  'noatime',
  'nodiratime',
  'relatime',
];

/**
 * Makes a mount in a running sandbox. The tools are the host's, looked up in the host's own tree. Only the namespace is
 * the sandbox's, and its places are given as descriptors, opened without following links. Throws on failure.
 */
export async function mountInside(init: number, mount: Mount): Promise<void> {
  const opened: number[] = [];
  const keep = (fd: number): number => {
    opened.push(fd);
    return fd;
  };
  try {
    const mounts = keep(openSync(`/proc/${init}/ns/mnt`, constants.O_RDONLY));
    const rights = keep(ownerNamespace(mounts));
    const root = keep(openSync(`/proc/${init}/root`, linux.O_PATH | constants.O_DIRECTORY));
    const inside = (path: string): number => keep(openInside(root, path));
    const fds = [mounts, rights, inside(mount.path), inside(parentOf(mount.path)), inside('/dev/null')];
    const enter = isOwn(rights) ? [] : ['--preserve-credentials', `--user=${RIGHTS}`];
    const [script, ...args] = scriptFor(mount, keptOptions(init, sourceOf(mount)));
    await run([...enter, `--mount=${MOUNTS}`, '--root=/', '--', '/bin/sh', '-ec', script, 'sh', ...args], {
      fds,
      ids: idsOf(init),
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/**
 * The first mount uses the descriptor, so that the place cannot be swapped. What then covers it has no descriptor yet,
 * but its name is taken.
 */
function scriptFor(mount: Mount, kept: readonly string[]): [string, ...string[]] {
  const bind = (source: string) => `mount -c --no-mtab -o rbind ${source} ${TARGET}`;
  const seal = `mount -c --no-mtab -o "remount,bind,$1" "${PARENT}/$2"`;
  const name = posix.basename(mount.path);
  switch (mount.kind) {
    case 'writable':
      return [bind(TARGET)];
    case 'readOnly':
      return [`${bind(TARGET)}; ${seal}`, ['ro', ...kept].join(), name];
    case 'hiddenFile':
      return [`${bind(NOTHING)}; ${seal}`, ['ro', 'nodev', ...kept].join(), name];
    case 'hiddenDirectory':
      if (mount.traversable) throw new Error('what is visible below would have to be mounted again');
      return [`mount -c --no-mtab -t tmpfs -o mode=0000,ro,nosuid,nodev,size=4k execwire ${TARGET}`];
    case 'link':
      throw new Error('a link is not a mount');
  }
}

function sourceOf({ kind, path }: Mount): string {
  return kind === 'hiddenFile' ? '/dev/null' : path;
}

/** The options of the mount that contains a path. */
function keptOptions(init: number, path: string): string[] {
  const places = mountsOf(init).filter((place) => isWithin(path, place.path));
  // Of several mounts at one path, the last is on top.
  const nearest = places.reduce((best, place) => (place.path.length >= best.path.length ? place : best));
  return nearest.options.filter((option) => KEPT_OPTIONS.includes(option));
}

/** As root in our own user namespace we need not enter it. */
function isOwn(rights: number): boolean {
  return fstatSync(rights).ino === statSync('/proc/self/ns/user').ino;
}

/** A sandbox of another user is entered as that user, who is root inside. */
function idsOf(init: number): { uid?: number; gid?: number } {
  const { uid, gid } = statSync(`/proc/${init}`);
  return uid === process.geteuid?.() ? {} : { uid, gid };
}

function run(
  args: readonly string[],
  { fds, ids }: { fds: readonly number[]; ids: { uid?: number; gid?: number } },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(findTool('nsenter'), args, {
      cwd: '/',
      env: { PATH: TOOL_PATH },
      stdio: ['ignore', 'ignore', 'ignore', ...fds],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
      ...ids,
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`entering ended with ${code ?? 'a signal'}`)),
    );
  });
}

function findTool(name: string): string {
  const found = findProgram({ name, cwd: '/', path: TOOL_PATH });
  if (found?.verdict !== 'runnable') throw new Error(`there is no ${name}`);
  return found.path;
}
