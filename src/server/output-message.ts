import type { ProcessEvent } from '../contract/index.js';
import { encodeBase64 } from '../protocol/index.js';
import { lendBuffer, returnBuffer } from './message-buffers.js';
import type { PushTarget } from './output-pusher.js';

const TAIL = '"}}';

/**
 * Writes `process/output` of one process as bytes. Base64 and numbers need no escaping and the id was escaped once, so
 * neither an object nor the text of a message is built.
 */
export class OutputMessage {
  readonly #head: Buffer;

  /** `idText`: the process id as JSON. */
  constructor(idText: string) {
    this.#head = Buffer.from(`{"method":"process/output","params":{"processId":${idText},"seq":`);
  }

  send({ seq, stream, bytes }: Extract<ProcessEvent, { type: 'output' }>, target: PushTarget): void {
    const chunk = encodeBase64(bytes);
    const middle = `${seq},"stream":"${stream}","chunk":"`;
    const head = this.#head;
    const buffer = lendBuffer(head.length + middle.length + chunk.length + TAIL.length);
    buffer.set(head);
    let end = head.length;
    // Plain ASCII from here on.
    for (const part of [middle, chunk, TAIL]) end += buffer.write(part, end, 'latin1');
    target.sendText(buffer.subarray(0, end), () => returnBuffer(buffer));
  }
}
