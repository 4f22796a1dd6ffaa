export { ConfinableFileSystem } from './confinable-file-system.js';
export { type HostFileSystem, LocalFileSystem } from './local-file-system.js';
