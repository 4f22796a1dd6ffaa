import { ExecError } from '../../protocol/errors.js';
import type { Libc } from './libc.js';
import { openAnyLibc } from './libc.js';
import { linux } from './linux.js';

/** An extended attribute. */
export interface Attribute {
  readonly name: string;
  readonly value: Buffer;
}

/** The kernel's own limits for a list of names and for a value. */
const MAX_XATTR_BYTES = 64 * 1024;

const buffer = Buffer.alloc(MAX_XATTR_BYTES);

/** What file systems without extended attributes answer, and files that have none or hide them from us. */
const NONE: readonly string[] = ['ENODATA', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EACCES'];

interface Reading {
  /** Of what a link leads to, such as that of a descriptor. Default: of the file itself. */
  readonly follow?: boolean;
}

/** One attribute; null if there is none with that name. */
export function extendedAttribute(
  path: Buffer,
  name: string,
  { follow = false }: Reading = {},
): Buffer | null {
  const read = follow ? libc().getxattrFollowed : libc().getxattr;
  const count = read(terminated(path), terminated(name), buffer, buffer.length);
  if (count >= 0) return Buffer.from(buffer.subarray(0, count));
  return noneOrThrow('getxattr');
}

/** All attributes that we may see, by name. */
export function extendedAttributes(path: Buffer, reading: Reading = {}): Attribute[] {
  const list = reading.follow ? libc().listxattrFollowed : libc().listxattr;
  const count = list(terminated(path), buffer, buffer.length);
  if (count < 0) noneOrThrow('listxattr');
  if (count <= 0) return [];
  const names = buffer
    .toString('utf8', 0, count - 1)
    .split('\0')
    .toSorted();
  return names.flatMap((name) => {
    const value = extendedAttribute(path, name, reading);
    return value === null ? [] : [{ name, value }];
  });
}

/** Follows links: give it the path of a descriptor, as the other functions here that change something. */
export function setExtendedAttribute(path: Buffer, { name, value }: Attribute): void {
  check(libc().setxattr(terminated(path), terminated(name), value, value.length, 0), 'setxattr');
}

/** Not an error if there is none with that name. */
export function removeExtendedAttribute(path: Buffer, name: string): void {
  if (libc().removexattr(terminated(path), terminated(name)) !== 0) noneOrThrow('removexattr');
}

const NS_PER_SECOND = 1_000_000_000n;

/** Sets both times, to the nanosecond. */
export function setTimes(path: Buffer, { atimeNs, mtimeNs }: { atimeNs: bigint; mtimeNs: bigint }): void {
  const times = BigInt64Array.of(...timespec(atimeNs), ...timespec(mtimeNs));
  check(libc().utimensat(linux.AT_FDCWD, terminated(path), times, 0), 'utimensat');
}

/** Times before 1970 are negative; the nanoseconds never are. */
function timespec(ns: bigint): [bigint, bigint] {
  const rest = ((ns % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  return [(ns - rest) / NS_PER_SECOND, rest];
}

/** Makes a fifo, a socket or a device; `mode` includes the type. */
export function makeNode(path: Buffer, { mode, device }: { mode: number; device: number }): void {
  check(libc().mknod(terminated(path), mode, device), 'mknod');
}

/** Writes everything of the file system that contains an open file to its disk. */
export function syncFileSystem(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    libc().syncfs.async(fd, (error, result) => {
      if (!error && result === 0) resolve();
      else reject(osError('syncfs', 'EIO'));
    });
  });
}

function terminated(text: Buffer | string): Buffer {
  return Buffer.concat([typeof text === 'string' ? Buffer.from(text) : text, Buffer.of(0)]);
}

function check(result: number, call: string): void {
  if (result !== 0) throw osError(call, libc().errno());
}

function noneOrThrow(call: string): null {
  const code = libc().errno();
  if (NONE.includes(code)) return null;
  throw osError(call, code);
}

/** Like Node's own, so that callers treat both alike. */
function osError(syscall: string, code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}, ${syscall}`), { code, syscall });
}

function libc(): Libc {
  const found = openAnyLibc();
  if (found === null)
    throw new ExecError('sandboxUnavailable', 'The C library of this machine cannot be reached.', {
      data: { reason: 'libcUnavailable' },
    });
  return found;
}
