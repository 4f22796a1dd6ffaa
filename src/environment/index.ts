export { LocalEnvironment } from './local.js';
