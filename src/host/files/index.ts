export { ConfinableFileSystem } from './confinable-file-system.js';
export { LocalFileSystem } from './local-file-system.js';
