import { pathBytes, pathText } from '../../protocol/file-uri.js';

const SLASH = 0x2f;

/** The path in the form system calls take. Bytes, since file names need not be UTF-8. */
export function hostPath(path: string): Buffer {
  return asBuffer(pathBytes(path));
}

/** The path in the form callers see. */
export function shownPath(path: Buffer): string {
  return pathText(path);
}

export function isRoot(path: Buffer): boolean {
  return path.length === 1;
}

/** The directory that contains `path`; the root contains itself. */
export function parentOf(path: Buffer): Buffer {
  const slash = path.lastIndexOf(SLASH);
  return slash <= 0 ? path.subarray(0, 1) : path.subarray(0, slash);
}

/** The last component; empty for the root. */
export function nameOf(path: Buffer): Buffer {
  return path.subarray(path.lastIndexOf(SLASH) + 1);
}

export function childOf(directory: Buffer, name: Buffer): Buffer {
  return isRoot(directory)
    ? Buffer.concat([directory, name])
    : Buffer.concat([directory, Buffer.of(SLASH), name]);
}

/** The names from the root down to `path`. */
export function componentsOf(path: Buffer): Buffer[] {
  const components: Buffer[] = [];
  for (let rest = path; !isRoot(rest); rest = parentOf(rest)) components.push(nameOf(rest));
  return components.toReversed();
}

/** True if `path` is `directory` or lies below it. Neither may contain symbolic links. */
export function isWithin(path: Buffer, directory: Buffer): boolean {
  if (isRoot(directory)) return true;
  if (!path.subarray(0, directory.length).equals(directory)) return false;
  return path.length === directory.length || path[directory.length] === SLASH;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
