/*
 * Applies or discards a set when told to, to be killed meanwhile. Usage: node end-set-once.mjs SETS ID apply|discard [STEP]; with
 * STEP it kills itself right before that call of the file system. Prints how long it took, how many calls, and of an apply which
 * one was the point of no return.
 */
import { once } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { LocalEnvironment } from '../../../dist/environment/index.js';
import { signalOne } from '../../../testkit/signal-one.mjs';

const [, , changesDirectory = '', id = '', way = '', deadly = ''] = process.argv;
let isCounting = false;
let calls = 0;
/** Each time the journal takes its place: first when it is made, and again when everything new is written. */
const journals = [];

for (const name of Object.keys(fs).filter((each) => each.endsWith('Sync'))) {
  const original = fs[name];
  if (typeof original !== 'function') continue;
  fs[name] = (...args) => {
    if (isCounting) {
      calls += 1;
      if (calls === Number(deadly)) signalOne(process.pid, 'SIGKILL');
      if (name === 'renameSync' && String(args[1]).endsWith('/journal.json')) journals.push(calls);
    }
    return original(...args);
  };
}
syncBuiltinESMExports();

const environment = new LocalEnvironment({ changesDirectory });
const set = environment.changes(id);
await set.list();
process.stdout.write('ready\n');
await once(process.stdin, 'data');
isCounting = true;
const began = performance.now();
await (way === 'discard' ? set.discard() : set.apply());
isCounting = false;
process.stdout.write(`done ${performance.now() - began} ${calls} ${journals[1]}\n`);
process.exit(0);
