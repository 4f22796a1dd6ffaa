export { ConfinableFileSystem } from './confined/confinable-file-system.js';
export type { HostFileSystem } from './local-file-system.js';
export { noChanges } from './confined/held-files.js';
