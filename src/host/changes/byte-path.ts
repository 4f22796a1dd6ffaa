/*
 * Relative paths as text with one character per byte: file names need not be UTF-8, and such text can be a key, be sorted
 * and be written as JSON. Open directories are addressed through their descriptors, so that nobody can swap what a path
 * leads to between a check and its use.
 */
import { pathText } from '../../protocol/file-uri.js';

/** A path below an open directory, for system calls. One name at a time: only the last component is not followed. */
export function entryOf(directory: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${directory}/${name}`, 'latin1');
}

/** The open directory itself, where a path is needed. */
export function pathOfDirectory(directory: number): Buffer {
  return Buffer.from(`/proc/self/fd/${directory}/.`);
}

export function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** The directory part of a relative path; empty for a name in the root. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The absolute path of something below a root, as callers see it. */
export function shownPath(root: string, path: string): string {
  const base = Buffer.from(root === '/' ? '' : root);
  if (path === '') return root;
  return pathText(Buffer.concat([base, Buffer.from('/'), Buffer.from(path, 'latin1')]));
}

/** The bytes of an absolute path as text of this kind. */
export function byteText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** The directories it is in, innermost first, without the root. */
export function ancestorsOf(path: string): string[] {
  const all: string[] = [];
  for (let at = parentOf(path); at !== ''; at = parentOf(at)) all.push(at);
  return all;
}
