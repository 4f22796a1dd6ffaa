export { LocalFileSystem } from './local-file-system.js';
