import type { ProcessEvent } from '../../contract/index.js';
import { releaseChunk, retainChunk } from '../../host/index.js';
import { encodeBase64, execServerNotifications } from '../../protocol/index.js';
import { binaryMessage } from '../../rpc/index.js';
import type { Shrinkage } from './compression.js';
import { acquireBuffer, releaseBuffer } from './message-buffers.js';
import type { PushTarget } from './output-pusher.js';

type OutputEvent = Extract<ProcessEvent, { type: 'output' }>;

const CHUNK = execServerNotifications['process/output'].bytes.params;
const TAIL = '"}}';
/** Ends the header of a binary frame: its bytes are the chunk. */
const FRAME_TAIL = `"},"bytes":"${CHUNK}"}`;

/**
 * Writes the `process/output` notifications of one process as binary frames or as UTF-8 text. Base64 and numbers need
 * no escaping and the id is escaped once, so neither an object nor a long string is built.
 */
export class OutputMessage {
  readonly #head: string;

  /** `idText`: the process id as JSON. */
  constructor(idText: string) {
    this.#head = `{"method":"process/output","params":{"processId":${idText},"seq":`;
  }

  /** Returns the number of bytes on the wire. */
  send(event: OutputEvent, target: PushTarget, shrinkage: Shrinkage): number {
    return target.sendsBytes ? this.#sendFrame(event, target, shrinkage) : this.#sendText(event, target);
  }

  /** Sends the chunk without copying it, and retains it, because the log may discard it before it has left. */
  #sendFrame({ seq, stream, bytes }: OutputEvent, target: PushTarget, shrinkage: Shrinkage): number {
    const header = `${this.#head}${seq},"stream":"${stream}${FRAME_TAIL}`;
    const message = binaryMessage(header, bytes);
    const packed = target.compression?.pack(message, shrinkage) ?? message;
    if (packed === message) {
      retainChunk(bytes);
      target.send(message, () => releaseChunk(bytes));
    } else target.send(packed);
    return packed.length;
  }

  #sendText({ seq, stream, bytes }: OutputEvent, target: PushTarget): number {
    const chunk = encodeBase64(bytes);
    const middle = `${seq},"stream":"${stream}","${CHUNK}":"`;
    const head = Buffer.from(this.#head);
    const buffer = acquireBuffer(head.length + middle.length + chunk.length + TAIL.length);
    buffer.set(head);
    let end = head.length;
    // ASCII only from here on.
    for (const part of [middle, chunk, TAIL]) end += buffer.write(part, end, 'latin1');
    target.send(buffer.subarray(0, end), () => releaseBuffer(buffer));
    return end;
  }
}
