import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isWithin } from '../../../policy/internal.js';

/** Whether one of these processes has something open, mapped or as its directory that lies in one of the places. */
export function holdsPlace(pids: readonly number[], places: readonly string[]): boolean {
  const isInside = (path: string) => places.some((place) => isWithin(path, place));
  return pids.some((pid) => threadsOf(pid).some((thread) => handlesOf(thread).some(isInside)));
}

function threadsOf(pid: number): string[] {
  return listed(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
}

function handlesOf(thread: string): string[] {
  const links = [...listed(`${thread}/fd`).map((fd) => `fd/${fd}`), 'cwd', 'root'];
  return [...links.map((link) => targetOf(`${thread}/${link}`)), ...mappedBy(thread)];
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

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return withoutMark(readlinkSync(link));
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
