import { BufferPool } from '../../rpc/index.js';

/** A block travels as one message beside others; larger ones would hold those up. */
export const MAX_BLOCK_BYTES = 1024 * 1024;
/** Base64 comes in groups of three bytes: a text as long as that of the largest block may hold two more. */
const BUFFER_BYTES = Math.ceil(MAX_BLOCK_BYTES / 3) * 3;

/** Room for the largest block. Between two streams it keeps 2 MiB. */
export const blockBuffers = new BufferPool({ bytes: BUFFER_BYTES, kept: 2 });
