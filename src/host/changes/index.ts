export { ChangeSets, type ChangeSetsOptions, type HeldUse } from './change-sets.js';
export { type ChangesOwner, OwnedChanges } from './owned-changes.js';
export { OwnedSet } from './owned-set.js';
export { type ChangesSupport, changesUnavailable } from './support.js';
