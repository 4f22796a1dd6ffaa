import { Keeper } from './keeper.js';
import { passedSockets } from './service-manager.js';
import { StoredListeners } from './stored-listeners.js';

/** The program of a keeper: its arguments are the command line of the server. */
const [path = process.execPath, ...rest] = process.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);
const { activated, stored } = passedSockets(process.env);
const argv = [path, ...rest];
const listeners = new StoredListeners(argv);
for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name];
new Keeper(
  { path, argv, env, cwd: process.cwd() },
  { activated, listeners, stored: listeners.taken(stored) },
).run();
