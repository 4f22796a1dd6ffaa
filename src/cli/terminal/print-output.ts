import type { ExecProcess, ExitedEvent } from '../../contract/index.js';

/** Our stdout cannot be written. */
export class OutputLost extends Error {}

/**
 * Writes a process's output to our own streams, at their pace. Resolves to its exit event once the output is closed.
 */
export async function printOutput(
  child: ExecProcess,
  options: { beforeOutput?: (bytes: Uint8Array) => void; missed?: (() => Promise<void>) | undefined } = {},
): Promise<ExitedEvent | undefined> {
  const { beforeOutput, missed } = options;
  let exited: ExitedEvent | undefined;
  for await (const event of child.events()) {
    // The screen we were given shows it already.
    if (event.type === 'output' && event.seq <= (child.screen?.afterSeq ?? 0)) continue;
    if (event.type === 'output' && event.stream === 'stderr')
      await write(process.stderr, event.bytes).catch(ignore);
    else if (event.type === 'output') {
      beforeOutput?.(event.bytes);
      await writeOut(event.bytes);
    }
    if (event.type === 'gap' && event.lostBytes > 0) complainOfGap(event.lostBytes);
    else if (event.type === 'gap' && event.beforeSeq > (child.screen?.afterSeq ?? 0) + 1) await missed?.();
    if (event.type === 'exited') exited = event;
  }
  return exited;
}

async function writeOut(bytes: Uint8Array): Promise<void> {
  try {
    await write(process.stdout, bytes);
  } catch (cause) {
    throw new OutputLost('stdout cannot be written', { cause });
  }
}

/** Resolves when the bytes have left this process: a slow reader slows the program down, as a pipe would. */
export function write(stream: NodeJS.WritableStream, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function complainOfGap(lostBytes: number): void {
  process.stderr.write(`execwire: ${lostBytes} bytes of output were lost here\n`);
}

function ignore(): void {
  // Without a reader, stderr is dropped, as with 2>&-.
}
