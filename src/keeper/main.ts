import { Keeper } from './keeper.js';
import { passedSockets } from './service-manager.js';

/** The program of a keeper: its arguments are the command line of the server. */
const [path = process.execPath, ...rest] = process.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);
const sockets = passedSockets(process.env);
for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name];
new Keeper({ path, argv: [path, ...rest], env, cwd: process.cwd() }, sockets).run();
