export type { ShellSnapshot } from './shell-snapshot.js';
export { ShellSnapshots, type SnapshotRequest, snapshotsAvailable } from './shell-snapshots.js';
export type { Spawn } from './take-snapshot.js';
