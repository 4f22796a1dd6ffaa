import type { Readable } from 'node:stream';

/** How much text about the pattern and the globs is kept. */
const MAX_TEXT = 8192;

/** Paths that are too long, and the limit for a line about one, which may name the path twice. */
const MAX_TOO_DEEP = 1000;
const MAX_LINE = 64 * 1024;

/** An error about a file. Anything else is about the command line. */
const ABOUT_FILE = /\(os error (\d+)\)$/;
const TOO_LONG = ': File name too long (os error 36)';
const ON_DIRECTORY = ': IO error for operation on ';

/** Resources a program can run out of: the result would be silently incomplete. */
const RAN_OUT: Readonly<Record<string, string>> = { 12: 'ENOMEM', 23: 'ENFILE', 24: 'EMFILE' };

/** Parses ripgrep's errors about files and arguments. */
export class RipgrepErrors {
  /** The components of paths too long for the system. */
  readonly tooDeep: Buffer[][] = [];
  /** There were more of those than were kept. */
  isTooMuch = false;
  /** The errno name of the resource it ran out of. */
  ranOut: string | null = null;
  #text = '';
  #rest = '';
  #isAboutFiles = false;

  constructor(stream: Readable) {
    stream.setEncoding('latin1');
    stream.on('data', (chunk: string) => this.#read(chunk));
    stream.on('error', () => undefined);
  }

  /** Its errors about arguments; empty if only files caused errors. */
  get text(): string {
    return this.#isAboutFiles
      ? ''
      : Buffer.from(this.#text + this.#rest, 'latin1')
          .toString()
          .trim();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    const [, errno] = ABOUT_FILE.exec(line) ?? [];
    if (errno === undefined) {
      if (this.#text.length < MAX_TEXT) this.#text += `${line}\n`.slice(0, MAX_TEXT);
      return;
    }
    this.#isAboutFiles = true;
    this.ranOut ??= RAN_OUT[errno] ?? null;
    if (line.endsWith(TOO_LONG)) this.#addTooDeep(pathIn(line.slice(0, -TOO_LONG.length)));
  }

  /** Names come from the disk, and could be forged to look like a path that leads elsewhere. */
  #addTooDeep(path: string): void {
    const [start, ...names] = path.split('/');
    if (start !== '.' || names.some((name) => name === '' || name === '.' || name === '..')) return;
    if (this.tooDeep.length < MAX_TOO_DEEP)
      this.tooDeep.push(names.map((name) => Buffer.from(name, 'latin1')));
    else this.isTooMuch = true;
  }
}

/** For a directory the path appears twice. */
function pathIn(words: string): string {
  const plain = words.replace(/^rg: /, '');
  const half = plain.slice(0, Math.max(0, (plain.length - ON_DIRECTORY.length) / 2));
  return plain === half + ON_DIRECTORY + half ? half : plain;
}
