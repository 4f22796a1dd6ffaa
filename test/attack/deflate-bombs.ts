import { constants, deflateRawSync } from 'node:zlib';

const MEBIBYTE = 1024 * 1024;
/** What Node inflates in one step. */
const STEP_BYTES = 16 * 1024;

/** How a frame begins: FIN, RSV1 (deflated) and the opcode. */
export const DEFLATED_TEXT = 0xc1;
export const DEFLATED_TEXT_BEGINS = 0x41;
export const TEXT_BEGINS = 0x01;
export const CONTINUES = 0x00;
export const ENDS = 0x80;

/** A frame as it travels. Clients mask theirs, here with zeros. */
export function frame(first: number, payload: Uint8Array, from: 'client' | 'server' = 'client'): Buffer {
  const head = Buffer.alloc(from === 'client' ? 14 : 10);
  head[0] = first;
  head[1] = from === 'client' ? 0xff : 0x7f;
  head.writeUIntBE(payload.length, 4, 6);
  return Buffer.concat([head, payload]);
}

/** Can follow itself, as often as one likes. */
const SIXTEEN_MEBIBYTES = deflateRawSync(Buffer.alloc(16 * MEBIBYTE, 0x20), {
  finishFlush: constants.Z_FULL_FLUSH,
});

/** A few bytes that become so many mebibytes of spaces, a multiple of 16. */
export function bomb(mebibytes: number): Buffer {
  return Buffer.concat(Array<Buffer>(mebibytes / 16).fill(SIXTEEN_MEBIBYTES));
}

/**
 * A message that becomes too long, and that is valid again for whoever forgets at that moment where he was: the step in
 * which it becomes too long ends inside a stored block, and what follows in there is another deflated stream.
 */
export function bombBehindLimit({ limit, gibibytes }: { limit: number; gibibytes: number }): Buffer {
  const stored = 1_000;
  const before = deflateRawSync(Buffer.alloc(limit + STEP_BYTES - stored, 0x20), {
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  const head = Buffer.from([0, 0xff, 0xff, 0, 0]);
  return Buffer.concat([before, head, Buffer.alloc(stored, 0x20), bomb(gibibytes * 1024)]);
}
