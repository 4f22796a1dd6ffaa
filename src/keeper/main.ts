import { Keeper } from './keeper.js';

/** The program of a keeper: its arguments are the command line of the server. */
const [path = process.execPath, ...rest] = process.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);
new Keeper({ path, argv: [path, ...rest], env, cwd: process.cwd() }).run();
