import { readFileSync } from 'node:fs';
import { isWithin } from '../../../policy/internal.js';
import { linkTarget, namesIn, threadsOf } from '../../kernel/index.js';

/** True if one of these processes has something in one of the places open, mapped, or as its working directory. */
export function holdsPlace(pids: readonly number[], places: readonly string[]): boolean {
  const isInside = (path: string) => places.some((place) => isWithin(path, place));
  return pids.some((pid) => threadsOf(pid).some((thread) => handlesOf(thread).some(isInside)));
}

function handlesOf(thread: string): string[] {
  const links = [...namesIn(`${thread}/fd`).map((fd) => `fd/${fd}`), 'cwd', 'root'];
  return [...links.map((link) => withoutMark(linkTarget(`${thread}/${link}`))), ...mappedBy(thread)];
}

/** The path, if any, follows five fields. */
function mappedBy(thread: string): string[] {
  const paths = textOf(`${thread}/maps`).matchAll(/^(?:\S+ +){5}(\/.*)$/gm);
  return [...new Set(Array.from(paths, ([, path = '']) => withoutMark(path)))];
}

/** A file that was replaced keeps its old name, with this suffix. */
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
