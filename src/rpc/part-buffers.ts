import { BufferPool } from './buffer-pool.js';

/** Bytes of a file in one part: a multiple of three, so that base64 parts join without padding, and just above 1 MiB. */
export const PART_SOURCE_BYTES = 3 * 349_526;
/** What is around the bytes of an answer: its id and the names of members. */
const ENVELOPE_BYTES = 4 * 1024;
/** Room for that in base64 and what is around it. */
export const PART_BYTES = (PART_SOURCE_BYTES / 3) * 4 + ENVELOPE_BYTES;

/** For the parts of answers. Between two streams it keeps 4.2 MB. */
export const partBuffers = new BufferPool({ bytes: PART_BYTES, kept: 3 });
