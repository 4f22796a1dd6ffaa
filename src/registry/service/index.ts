export { Registry } from './registry.js';
export { RegistryTokenFile } from './registry-tokens.js';
