import { type BigIntStats, fstatSync, lstatSync } from 'node:fs';
import { type Attribute, extendedAttribute, extendedAttributes } from '../kernel/index.js';
import { withTrueMode } from './opened-directories.js';

/** What can be at a path. */
export type NodeType = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device';

/** What is at a path; undefined if nothing is. */
export function nodeAt(path: Buffer): BigIntStats | undefined {
  try {
    const node = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return node && withTrueMode(node);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** An open directory, even one whose mode keeps us out. */
export function nodeOfDirectory(fd: number): BigIntStats {
  return withTrueMode(fstatSync(fd, { bigint: true }));
}

export function typeOf(node: BigIntStats): NodeType {
  if (node.isFile()) return 'file';
  if (node.isDirectory()) return 'directory';
  if (node.isSymbolicLink()) return 'symlink';
  if (node.isFIFO()) return 'fifo';
  return node.isSocket() ? 'socket' : 'device';
}

/** How an overlay marks what was deleted. Programs cannot make one. */
export function isWhiteout(node: BigIntStats): boolean {
  return node.isCharacterDevice() && node.rdev === 0n;
}

const OPAQUE = 'user.overlay.opaque';

/** True for a directory that took the place of an earlier one, of which nothing is left. */
export function isOpaque(path: Buffer): boolean {
  return extendedAttribute(path, OPAQUE)?.toString() === 'y';
}

const OVERLAY_PREFIX = 'user.overlay.';
/** How an overlay writes attributes of programs whose names it uses itself. */
const ESCAPED_PREFIX = 'user.overlay.overlay.';
/** Labels that a security module gives to every file. */
const NOT_OURS: readonly string[] = ['security.selinux', 'security.ima', 'security.evm'];
/** Only root can give capabilities to a file. An overlay shows a plain user those of another kind. */
const NOT_A_USERS: readonly string[] = [...NOT_OURS, 'security.capability'];

/** The extended attributes of a held file as its programs see them. */
export function heldAttributes(path: Buffer): Attribute[] {
  return plainAttributes(path).flatMap(({ name, value }) => {
    if (name.startsWith(ESCAPED_PREFIX))
      return [{ name: OVERLAY_PREFIX + name.slice(ESCAPED_PREFIX.length), value }];
    return name.startsWith(OVERLAY_PREFIX) ? [] : [{ name, value }];
  });
}

/** The extended attributes of what a descriptor path leads to. */
export function followedAttributes(path: Buffer): Attribute[] {
  return travelling(extendedAttributes(path, { follow: true }));
}

/** The extended attributes of a file that travel with it. */
export function plainAttributes(path: Buffer): Attribute[] {
  return travelling(extendedAttributes(path));
}

function travelling(attributes: readonly Attribute[]): Attribute[] {
  const kept = process.geteuid?.() === 0 ? NOT_OURS : NOT_A_USERS;
  return attributes.filter(({ name }) => !kept.includes(name));
}

export function sameAttributes(a: readonly Attribute[], b: readonly Attribute[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ name, value }, index) => name === b[index]?.name && value.equals(b[index].value))
  );
}

const STICKY = 0o1000n;
const WRITABLE_BY_OTHERS = 0o022n;

/** A directory of a sandbox that only blocks a name; see `sandbox/plan/placeholder.ts`. */
export function looksLikePlaceholder(node: BigIntStats): boolean {
  return node.isDirectory() && (node.mode & STICKY) !== 0n && (node.mode & WRITABLE_BY_OTHERS) === 0n;
}
