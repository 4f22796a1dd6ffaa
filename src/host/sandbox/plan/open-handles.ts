import { readFileSync } from 'node:fs';
import { isWithin } from '../../../policy/internal.js';
import { linkTarget, namesIn, threadsOf } from '../../kernel/index.js';

/** Whether one of these processes has something open, mapped or as its directory that lies in one of the places. */
export function holdsPlace(pids: readonly number[], places: readonly string[]): boolean {
  const isInside = (path: string) => places.some((place) => isWithin(path, place));
  return pids.some((pid) => threadsOf(pid).some((thread) => handlesOf(thread).some(isInside)));
}

function handlesOf(thread: string): string[] {
  const links = [...namesIn(`${thread}/fd`).map((fd) => `fd/${fd}`), 'cwd', 'root'];
  return [...links.map((link) => withoutMark(linkTarget(`${thread}/${link}`))), ...mappedBy(thread)];
}

/** A path is what stands behind five fields, if anything does. */
function mappedBy(thread: string): string[] {
  const paths = textOf(`${thread}/maps`).matchAll(/^(?:\S+ +){5}(\/.*)$/gm);
  return [...new Set(Array.from(paths, ([, path = '']) => withoutMark(path)))];
}

/** What was replaced while it was being opened is named as it was, and marked. */
function withoutMark(path: string): string {
  return path.replace(/ \(deleted\)$/, '');
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
