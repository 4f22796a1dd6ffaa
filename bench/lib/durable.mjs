import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The same server with a keeper. */
export function durable(subject, scratch, place) {
  const argv = [...subject.argv, '--durable', join(scratch, `durable-${place}`)];
  return { ...subject, name: `${subject.name} durable`, argv };
}

/** The server of a keeper; null for a server without one. */
export function serverOf(keeper) {
  const children = readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'utf8').split(' ').filter(Boolean);
  const server = children.find((pid) => commandOf(pid).includes('--durable'));
  return server === undefined ? null : Number(server);
}

/** It may be gone by now. */
function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
