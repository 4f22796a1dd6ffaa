import { BufferPool } from './buffer-pool.js';

/** File bytes per part: a multiple of three, so that base64 parts join without padding, and just above 1 MiB. */
export const PART_SOURCE_BYTES = 3 * 349_526;
/** What surrounds the bytes of an answer: its id and member names. */
const ENVELOPE_BYTES = 4 * 1024;
/** Room for one part in base64 with its envelope. */
export const PART_BYTES = (PART_SOURCE_BYTES / 3) * 4 + ENVELOPE_BYTES;

/** For the parts of answers. Retains 4.2 MB between streams. */
export const partBuffers = new BufferPool({ bytes: PART_BYTES, kept: 3 });
