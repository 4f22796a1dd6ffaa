import { isExecError } from '../../protocol/errors.js';
import type { ExecProcess } from '../process.js';
import type { CommandInput } from './run-options.js';

/** Size of one write: small enough to share a connection, large enough to keep it busy. */
const PIECE_BYTES = 64 * 1024;
/** Unanswered bytes in flight, so that input uses the full bandwidth of a long line. */
const WINDOW_BYTES = 1024 * 1024;

const encoder = new TextEncoder();

/** Writes all input and then closes stdin. A program that stops reading early is no failure. */
export async function feedInput(process: ExecProcess, input: CommandInput): Promise<void> {
  const flight = new Flight();
  try {
    for await (const piece of piecesOf(input)) {
      if (!(await flight.send(process, piece))) return;
    }
    if (await flight.landed()) await process.closeStdin();
  } catch (error) {
    if (!isOver(error)) throw error;
  }
}

/** Unanswered writes, in order. */
class Flight {
  readonly #writes: { readonly bytes: number; readonly accepted: Promise<boolean> }[] = [];
  #bytes = 0;

  /** Returns false once the program accepts no more input. Waits while too much is unanswered. */
  async send(process: ExecProcess, piece: Uint8Array): Promise<boolean> {
    const accepted = process.write(piece).then((status) => status === 'accepted');
    // Awaited when its turn comes, which may be after it failed.
    accepted.catch(() => undefined);
    this.#writes.push({ bytes: piece.length, accepted });
    this.#bytes += piece.length;
    while (this.#bytes > WINDOW_BYTES) if (!(await this.#oldest())) return false;
    return true;
  }

  async landed(): Promise<boolean> {
    while (this.#writes.length > 0) if (!(await this.#oldest())) return false;
    return true;
  }

  async #oldest(): Promise<boolean> {
    const write = this.#writes.shift();
    this.#bytes -= write?.bytes ?? 0;
    return (await write?.accepted) ?? true;
  }
}

async function* piecesOf(input: CommandInput): AsyncGenerator<Uint8Array> {
  if (typeof input === 'string' || input instanceof Uint8Array) yield* slicesOf(input);
  else for await (const part of input) yield* slicesOf(part);
}

function* slicesOf(part: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof part === 'string' ? encoder.encode(part) : part;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function isOver(error: unknown): boolean {
  return (
    isExecError(error, 'stdinClosed') ||
    isExecError(error, 'processExited') ||
    isExecError(error, 'processNotFound')
  );
}
