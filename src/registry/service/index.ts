export { Registry, type RegistryOptions } from './registry.js';
export { RegistryTokenFile, type RegistryTokens, type TokenBearer } from './registry-tokens.js';
