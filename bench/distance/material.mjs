import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transferBytes } from './lines.mjs';

export const SMALL_FILES = 500;
const SMALL_BYTES = 2000;
const FILES_PER_DIRECTORY = 50;

/**
 * What is moved over a line, and where it goes.
 * @typedef {ReturnType<typeof prepareMaterial>} Material
 */

/** @param {string} folder @param {import('./lines.mjs').Line} line */
export function prepareMaterial(folder, line) {
  const size = transferBytes(line);
  const targets = join(folder, 'targets');
  let made = 0;
  const fresh = () => join(targets, `${++made}`);
  return {
    random: written(join(folder, 'random'), randomBytes(size)),
    log: written(join(folder, 'log'), logLines(size)),
    tree: smallFiles(join(folder, 'tree')),
    /** A name nobody has used. */
    fresh,
    freshFolder() {
      const path = fresh();
      mkdirSync(path);
      return path;
    },
    /** Forgets what was copied so far. */
    sweep() {
      rmSync(targets, { recursive: true, force: true });
      mkdirSync(targets, { recursive: true });
    },
  };
}

/** @param {string} path @param {Buffer} content */
function written(path, content) {
  writeFileSync(path, content);
  return { path, size: content.length };
}

/** Lines as a test run prints them: much alike, never the same. @param {number} size */
function logLines(size) {
  const lines = [];
  for (let length = 0, index = 0; length < size; index += 1) {
    const milliseconds = (index * 7919) % 1000;
    const line = `2026-01-01T12:${String(index % 60).padStart(2, '0')} INFO suite-${index % 97} case ${index} passed in ${milliseconds} ms\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join('')).subarray(0, size);
}

/** @param {string} root */
function smallFiles(root) {
  for (let index = 0; index < SMALL_FILES; index += 1) {
    const directory = join(root, `${Math.floor(index / FILES_PER_DIRECTORY)}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${index}`), randomBytes(SMALL_BYTES));
  }
  return root;
}
