export { Registry, type RegistryOptions } from './registry.js';
export { readRegistryTokens, type RegistryTokens, type TokenBearer } from './registry-tokens.js';
