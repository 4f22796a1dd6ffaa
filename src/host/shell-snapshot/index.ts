export { ShellSnapshots, type SnapshotRequest, snapshotsAvailable } from './shell-snapshots.js';
