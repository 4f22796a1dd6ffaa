import { StringDecoder } from 'node:string_decoder';
import { printable } from './table.js';

/** A line longer than this is printed in pieces. */
const MAX_LINE_CHARS = 64 * 1024;

type Stream = 'stdout' | 'stderr';

interface Unfinished {
  readonly decoder: StringDecoder;
  text: string;
}

/** Prints the output of several machines line by line, each with the name of its machine, so that lines never mix. */
export class PrefixedOutput {
  readonly #width: number;
  /** Lines that have not ended, by machine and stream. */
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(machines: readonly string[]) {
    this.#width = Math.max(0, ...machines.map((name) => name.length));
  }

  write(machine: string, stream: string, bytes: Uint8Array): void {
    const to: Stream = stream === 'stderr' ? 'stderr' : 'stdout';
    const line = this.#line(machine, to);
    line.text += line.decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    const lines = line.text.split('\n');
    line.text = lines.pop() ?? '';
    while (line.text.length > MAX_LINE_CHARS) {
      lines.push(line.text.slice(0, MAX_LINE_CHARS));
      line.text = line.text.slice(MAX_LINE_CHARS);
    }
    this.#print(machine, to, lines);
  }

  /** Prints what is left of a machine's output. */
  end(machine: string): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const key = `${stream} ${machine}`;
      const line = this.#unfinished.get(key);
      if (!line) continue;
      const rest = line.text + line.decoder.end();
      this.#unfinished.delete(key);
      if (rest !== '') this.#print(machine, stream, [rest]);
    }
  }

  /** Says something about a machine ourselves. */
  note(machine: string, text: string): void {
    this.end(machine);
    this.#print(machine, 'stderr', [`execwire: ${printable(text)}`]);
  }

  #line(machine: string, stream: Stream): Unfinished {
    const key = `${stream} ${machine}`;
    const known = this.#unfinished.get(key) ?? { decoder: new StringDecoder('utf8'), text: '' };
    this.#unfinished.set(key, known);
    return known;
  }

  #print(machine: string, stream: Stream, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const prefix = `${printable(machine).padEnd(this.#width)} | `;
    process[stream].write(lines.map((line) => `${prefix}${line}\n`).join(''));
  }
}
