/**
 * The app server, which editors and desktop apps talk to, over environments of yours.
 *
 * @module execwire/app
 */

export { AppServer, type AppServerOptions } from './app-server.js';
export type { EnvironmentTarget } from './environment-rules.js';
export type { AppEnvironments } from './environments.js';
export type { AppLog } from './log.js';
