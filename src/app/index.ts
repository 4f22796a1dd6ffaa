/**
 * The app server for editors and desktop apps, on top of your own environments.
 *
 * @module execwire/app
 */

export { AppServer, type AppServerOptions } from './app-server.js';
export type { EnvironmentTarget } from './environment-rules.js';
export type { AppEnvironments } from './environments.js';
export type { AppLog } from './log.js';
