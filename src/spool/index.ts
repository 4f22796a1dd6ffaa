export type { DurableOutput } from './durable-output.js';
export type { LogTail } from './log-tail.js';
export { type NamelessFile, openNamelessFile } from './nameless-file.js';
export { type OutputUse, outputUse } from './output-use.js';
export { requirePrivateDirectory } from './private-directory.js';
export { exitedEvent, type ProcessFacts, type StoredEnd, writerOf } from './process-facts.js';
export { DEFAULT_SPOOL_QUOTA_BYTES, type SpoolOwner, SpoolQuota } from './quota.js';
export {
  DEFAULT_PROCESS_BYTES,
  DEFAULT_TOTAL_BYTES,
  type DurableRequest,
  Spool,
  type SpoolOptions,
  type SpoolRequest,
} from './spool.js';
export type { SpooledOutput } from './spooled-output.js';
export { StoredLog } from './stored-log.js';
export { MAX_WRITE_BYTES, TemporaryOutput, type TemporaryOutputOptions } from './temporary-output.js';
