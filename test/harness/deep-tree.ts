import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Goes down by `chdir`: no path leads that far. */
const PLANT = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const [top, depth, every] = [process.argv[1], Number(process.argv[2]), Number(process.argv[3])];
  mkdirSync(top);
  process.chdir(top);
  for (let level = 1; level <= depth; level += 1) {
    mkdirSync('d');
    process.chdir('d');
    if (level % every === 0) writeFileSync('file', 'needle ' + level + '\\n');
  }`;

/** A file at every so many levels. */
const FILE_EVERY = 500;

/** What holds a tree so deep that no path and no usual number of descriptors reaches its end. */
export class DeepTree implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'execwire-deep-')));
  readonly depth: number;

  constructor(depth: number) {
    this.depth = depth;
    execFileSync(process.execPath, ['-e', PLANT, this.at('tree'), String(depth), String(FILE_EVERY)]);
  }

  at(name: string): string {
    return join(this.base, name);
  }

  /** The levels that have a file. */
  get levels(): number[] {
    return Array.from(
      { length: Math.floor(this.depth / FILE_EVERY) },
      (_, index) => (index + 1) * FILE_EVERY,
    );
  }

  /** What all files of a tree say, sorted. */
  linesOf(name: string): string[] {
    const args = [this.at(name), '-name', 'file', '-execdir', 'cat', '{}', ';'];
    const text = execFileSync('find', args, { env: { PATH: '/usr/bin:/bin' } }).toString();
    return text.trim().split('\n').sort();
  }

  [Symbol.dispose](): void {
    execFileSync('rm', ['-rf', this.base]);
  }
}
