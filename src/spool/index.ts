export { type OutputUse, outputUse } from './output-use.js';
export type { ProcessFacts, StoredEnd } from './process-facts.js';
export { DEFAULT_SPOOL_QUOTA_BYTES, type SpoolOwner, SpoolQuota } from './quota.js';
export {
  DEFAULT_PROCESS_BYTES,
  DEFAULT_TOTAL_BYTES,
  Spool,
  type SpoolOptions,
  type SpoolRequest,
} from './spool.js';
export type { SpooledOutput } from './spooled-output.js';
export { StoredLog } from './stored-log.js';
export { MAX_WRITE_BYTES, TemporaryOutput, type TemporaryOutputOptions } from './temporary-output.js';
