export { ChangeSets } from './change-sets.js';
export type { HeldUse, KeptUse } from './held-use.js';
export type { SetKeeping } from './held-set.js';
export { type ChangesOwner, OwnedChanges } from './owned-changes.js';
export { DEFAULT_LIMITS } from './set-limits.js';
export { newSetId } from './set-id.js';
export type { ChangesSupport } from './support.js';
