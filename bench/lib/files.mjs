import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median, rounded } from './stats.mjs';

export const MIB = 1024 * 1024;
/** Blocks under way at a time: enough to hide the round trip. */
const WINDOW = 4;

/** A file to read, made once per run. */
export function sourceFile(scratch, byteCount) {
  const path = join(scratch, `source-${byteCount}`);
  writeFileSync(path, Buffer.alloc(byteCount, 'execwire '));
  return path;
}

/** A tree of `entryCount` entries, a thousand to a directory, the directory among them. */
export function sourceTree(scratch, entryCount) {
  const root = join(scratch, 'tree');
  for (let first = 0; first < entryCount; first += 1000) {
    const directory = join(root, String(first));
    mkdirSync(directory, { recursive: true });
    const files = Math.min(1000, entryCount - first) - 1;
    for (let file = 0; file < files; file += 1) writeFileSync(join(directory, `file-${file}`), '');
  }
  return root;
}

export function uri(path) {
  return pathToFileURL(path).href;
}

/** Seconds something takes. */
export async function secondsOf(work) {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** Reads a file in one message. */
export async function readWhole(client, path, byteCount) {
  const answer = await client.request('fs/readFile', { path: uri(path) });
  const arrived = answer.byteCount ?? Buffer.from(answer.dataBase64, 'base64').length;
  if (arrived !== byteCount) throw new Error(`${arrived} bytes arrived instead of ${byteCount}`);
}

/** Writes a file in one message. */
export async function writeWhole(client, path, content) {
  await client.requestBulk('fs/writeFile', { path: uri(path) }, { field: 'dataBase64', ...content });
}

/** Something to write, as bytes and in base64: made before anything is measured. */
export function contentOf(byteCount) {
  const bytes = Buffer.alloc(byteCount, 'written ');
  return { bytes, base64: bytes.toString('base64') };
}

/** Reads a file block by block, some blocks ahead. */
export async function readBlocks(client, path, byteCount) {
  await client.request('fs/open', { handleId: 'r', path: uri(path), mode: 'read' });
  let arrived = 0;
  await inWindow(byteCount, async (offset) => {
    const block = await client.request('fs/readBlock', { handleId: 'r', offset, len: MIB });
    arrived += block.byteCount;
  });
  await client.request('fs/close', { handleId: 'r' });
  if (arrived !== byteCount) throw new Error(`${arrived} bytes arrived instead of ${byteCount}`);
}

/** Writes a file block by block, some blocks ahead. */
export async function writeBlocks(client, path, byteCount) {
  const block = { field: 'chunk', ...contentOf(MIB) };
  await client.request('fs/open', { handleId: 'w', path: uri(path), mode: 'replace' });
  await inWindow(byteCount, (offset) =>
    client.requestBulk('fs/writeBlock', { handleId: 'w', offset }, block),
  );
  await client.request('fs/close', { handleId: 'w' });
}

async function inWindow(byteCount, move) {
  let next = 0;
  const lane = async () => {
    while (next < byteCount) {
      const offset = next;
      next += MIB;
      await move(offset);
    }
  };
  await Promise.all(Array.from({ length: WINDOW }, lane));
}

/** One row per subject with the median of each metric over its rounds. */
export function medianRows(runs, metrics) {
  return [...runs].map(([subject, rounds]) => ({
    subject,
    values: Object.fromEntries(
      metrics
        .filter(({ key }) => rounds[0]?.[key] !== undefined)
        .map(({ key }) => [key, rounded(median(rounds.map((round) => round[key])))]),
    ),
    samples: rounds.length,
  }));
}
