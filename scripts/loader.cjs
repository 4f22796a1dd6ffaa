'use strict';
// Loads the command line, which the build puts beside this file in a few chunks. For the Node it was built with there is
// also what V8 made of them, which saves compiling at each start. Names of chunks contain a hash of their content, so
// code that belongs to another text is never taken; V8 refuses code of other versions or flags by itself.
const { existsSync, readFileSync } = require('node:fs');
const module_ = require('node:module');
const path = require('node:path');

/** Filled in by the build. */
const ENTRY = '__ENTRY__';
const BUILT_FOR = '__BUILT_FOR__';

/** What Node puts around a module; a profile counts columns of the first line from here. */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) {', '\n})'];

/** Code of V8 for one chunk. */
const codeFile = (file) => `${file}.code`;

/** What compiled code depends on. */
const platform = () => `${process.versions.v8} ${process.arch}`;

function start() {
  // A package carries no code of ours for V8: it is worth something on the machine of the build alone.
  if (BUILT_FOR === platform() && existsSync(codeFile(path.join(__dirname, ENTRY))))
    return createLoader()(ENTRY);
  cacheForNextTime();
  return require(path.join(__dirname, ENTRY));
}

/**
 * A `require` for chunks. `onScript` is told of every chunk that was compiled, and whether its code was there.
 * @param {{ onScript?: (compiled: { filename: string, script: import('node:vm').Script, found: boolean }) => void }} [options]
 */
function createLoader({ onScript = () => {} } = {}) {
  const vm = require('node:vm');
  const loaded = new Map();
  const requireOthers = module_.createRequire(__filename);
  return function load(name) {
    const known = loaded.get(name);
    if (known) return known.exports;
    const filename = path.join(__dirname, name);
    const text = WRAPPER.join(readFileSync(filename, 'utf8'));
    const cachedData = existsSync(codeFile(filename)) ? readFileSync(codeFile(filename)) : undefined;
    const script = new vm.Script(text, { filename, cachedData });
    onScript({ filename, script, found: cachedData !== undefined && !script.cachedDataRejected });
    const chunk = { exports: {} };
    loaded.set(name, chunk);
    const requireFrom = (id) => (id.startsWith('./') ? load(id.slice(2)) : requireOthers(id));
    script.runInThisContext()(chunk.exports, requireFrom, chunk, filename, __dirname);
    return chunk.exports;
  };
}

/** Another Node keeps what it compiled in the user's own cache, where it can do so. */
function cacheForNextTime() {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const caches = XDG_CACHE_HOME || (HOME && path.join(HOME, '.cache'));
  // Node 20 does not have it.
  const { enableCompileCache } = /** @type {{ enableCompileCache?: (directory: string) => unknown }} */ (
    module_
  );
  if (caches) enableCompileCache?.(path.join(caches, 'execwire'));
}

module.exports = { start, createLoader, codeFile, ENTRY, WRAPPER };
