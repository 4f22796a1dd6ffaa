'use strict';
// Runs a command line of the built program and keeps what V8 compiled for it beside each chunk, unless some is there:
//   node scripts/record-code.cjs DIST_BIN ARGUMENTS...
const { renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const [folder, ...args] = process.argv.slice(2);
const { codeFile, createLoader, ENTRY } = require(path.join(folder, 'loader.cjs'));
process.argv = [process.argv[0], path.join(folder, '..', '..', 'bin', 'execwire.js'), ...args];

const fresh = [];
// At the end, because functions are compiled when they are first called.
process.on('exit', () => {
  for (const { filename, script } of fresh) keep(codeFile(filename), script.createCachedData());
});
createLoader({
  onScript: ({ found, ...compiled }) => {
    if (!found) fresh.push(compiled);
  },
})(ENTRY);

/** Whoever starts the program meanwhile finds all of it or nothing. */
function keep(file, data) {
  writeFileSync(`${file}.${process.pid}`, data);
  renameSync(`${file}.${process.pid}`, file);
}
