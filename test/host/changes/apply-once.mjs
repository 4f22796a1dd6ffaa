/* Applies a set when told to, to be killed meanwhile. Usage: node apply-once.mjs SETS ID */
import { once } from 'node:events';
import { LocalEnvironment } from '../../../dist/environment/index.js';

const [, , changesDirectory = '', id = ''] = process.argv;
const environment = new LocalEnvironment({ changesDirectory });
const set = environment.changes(id);
await set.list();
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const began = performance.now();
await set.apply();
process.stdout.write(`applied ${performance.now() - began}\n`);
process.exit(0);
