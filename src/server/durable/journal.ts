import { closeSync, constants, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

const FILE_MODE = 0o600;
const VERSION = 1;
/** A journal is written anew when it is this much longer than what it says. */
const MAX_WASTE_BYTES = 1024 * 1024;

/**
 * What the next server must know, by key. Every change is one line at the end of a file, written before anybody hears of
 * it; a part of a line at the end never happened.
 */
export class Journal {
  readonly #path: string;
  /** The text of each value. */
  readonly #live: Map<string, string>;
  #file: number;
  #size = 0;
  #liveBytes = 0;

  private constructor(path: string, live: Map<string, string>) {
    this.#path = path;
    this.#live = live;
    this.#file = this.#rewrite();
  }

  /** A new one, whatever is there. */
  static create(path: string): Journal {
    return new Journal(path, new Map());
  }

  /** Continues the journal of an earlier server. */
  static open(path: string): Journal {
    return new Journal(path, readJournal(path));
  }

  /** Everything whose key begins like this, by the rest of the key. */
  *all(prefix: string): Generator<[string, unknown], void> {
    for (const [key, text] of this.#live)
      if (key.startsWith(prefix)) yield [key.slice(prefix.length), JSON.parse(text)];
  }

  /** Throws if it cannot be written; then nothing has changed. */
  put(key: string, value: object): void {
    const text = JSON.stringify(value);
    this.#append(`[${JSON.stringify(key)},${text}]\n`);
    this.#liveBytes += text.length - (this.#live.get(key)?.length ?? 0);
    this.#live.set(key, text);
  }

  delete(key: string): void {
    const text = this.#live.get(key);
    if (text === undefined) return;
    this.#append(`[${JSON.stringify(key)}]\n`);
    this.#liveBytes -= text.length;
    this.#live.delete(key);
  }

  /** Nobody will need it. */
  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #append(line: string): void {
    const bytes = Buffer.from(line);
    // At a position, so that a line that could only be written in part is overwritten by the next one.
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#size + done);
    this.#size += bytes.length;
    if (this.#size - 2 * this.#liveBytes < MAX_WASTE_BYTES) return;
    const old = this.#file;
    this.#file = this.#rewrite();
    closeSync(old);
  }

  /** Writes a complete new file, then puts it in the place of the old one. */
  #rewrite(): number {
    const draft = `${this.#path}.new`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const file = openSync(draft, flags, FILE_MODE);
    try {
      const lines = [...this.#live].map(([key, text]) => `[${JSON.stringify(key)},${text}]\n`);
      const bytes = Buffer.from(`${JSON.stringify({ version: VERSION })}\n${lines.join('')}`);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      renameSync(draft, this.#path);
      this.#size = bytes.length;
      this.#liveBytes = [...this.#live.values()].reduce((sum, text) => sum + text.length, 0);
      return file;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }
}

function readJournal(path: string): Map<string, string> {
  const live = new Map<string, string>();
  const [first = '', ...lines] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const { version } = JSON.parse(first) as { version?: unknown };
  if (version !== VERSION) throw new Error('the journal was written by another version');
  for (const line of lines) {
    const [key, value] = JSON.parse(line) as [string, object?];
    if (value === undefined) live.delete(key);
    else live.set(key, JSON.stringify(value));
  }
  return live;
}
