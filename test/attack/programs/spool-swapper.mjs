// Replaces directories that somebody is about to use by links to another place, and puts files into them that exist there.
//   node spool-swapper.mjs WHERE TARGET
import { readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [where = '', target = ''] = process.argv.slice(2);
process.stdout.write('ready\n');
process.stdin.on('end', () => process.exit()).resume();
let taken = 0;
setImmediate(function look() {
  const until = performance.now() + 50;
  while (performance.now() < until) {
    for (const name of readdirSync(where).filter((each) => each.startsWith('execwire-spool-'))) {
      const path = join(where, name);
      try {
        // Every other time a little later, so that what is removed is another directory than what was looked at.
        if (taken % 2 === 1) writeFileSync(join(path, 'precious'), '');
        renameSync(path, join(where, `taken-${(taken += 1)}`));
        symlinkSync(target, path);
      } catch {
        // Somebody was faster.
      }
    }
  }
  setImmediate(look);
});
