export { dialRegistry } from './dial-registry.js';
