import { BufferPool } from '../../rpc/index.js';

/** A block is one message among others; larger ones would hold those up. */
export const MAX_BLOCK_BYTES = 1024 * 1024;
/** Base64 encodes groups of three bytes: text of the maximum length may decode to two more bytes. */
const BUFFER_BYTES = Math.ceil(MAX_BLOCK_BYTES / 3) * 3;

/** Room for the largest block. Retains 2 MiB between streams. */
export const blockBuffers = new BufferPool({ bytes: BUFFER_BYTES, kept: 2 });
