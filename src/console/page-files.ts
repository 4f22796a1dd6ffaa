import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { ExecError } from '../protocol/errors.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  /** By the name of the encoding, the best first. Only those that make it smaller. */
  readonly encoded: ReadonlyMap<string, Buffer>;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

/** Ends the names of files that the build has compressed. */
const BROTLI = '.br';

/** The built page. Files are looked up by name, never by a path from a request. */
export class PageFiles {
  readonly #directory: string;
  readonly #stored: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  readonly #loaded = new Map<string, PageFile>();

  constructor(directory: string) {
    this.#directory = directory;
    try {
      const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
      this.#stored = new Set(names);
      const shown = names.map((name) => (name.endsWith(BROTLI) ? name.slice(0, -BROTLI.length) : name));
      this.#names = new Set(shown.filter((name) => extname(name) in TYPES));
    } catch (cause) {
      throw new ExecError(
        'invalidConfiguration',
        'The page of the console is missing. Build it: npm run build',
        {
          cause,
        },
      );
    }
  }

  /** The file at a path of the site; undefined if there is none. */
  find(path: string): PageFile | undefined {
    const name = path === '/' ? 'index.html' : path.slice(1);
    if (!this.#names.has(name)) return undefined;
    const known = this.#loaded.get(name) ?? this.#load(name);
    this.#loaded.set(name, known);
    return known;
  }

  #load(name: string): PageFile {
    const read = (file: string): Buffer => readFileSync(join(this.#directory, file));
    const brotli = this.#stored.has(name + BROTLI) ? read(name + BROTLI) : null;
    const body = brotli ? brotliDecompressSync(brotli) : read(name);
    const encodings = [
      ...(brotli ? [['br', brotli] as const] : []),
      ['gzip', gzipSync(body, { level: 9 })] as const,
    ];
    return {
      type: TYPES[extname(name)] ?? 'application/octet-stream',
      body,
      encoded: new Map(encodings.filter(([, bytes]) => bytes.length < body.length)),
      isImmutable: name.startsWith('assets/'),
    };
  }
}
