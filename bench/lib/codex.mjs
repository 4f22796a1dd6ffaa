import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './usage-error.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const VENDOR = join(root, 'interop', 'node_modules', '@openai', 'codex-linux-x64', 'vendor');

/** The codex to compare with: $CODEX_BIN, the one the interop tests installed, or the one on PATH; null without. */
export function findCodex() {
  if (process.env.CODEX_BIN) return requireWorking(process.env.CODEX_BIN);
  const path = [...vendored(), ...onPath()].find(isExecutable);
  return path === undefined ? null : requireWorking(path);
}

function vendored() {
  try {
    return readdirSync(VENDOR).map((target) => join(VENDOR, target, 'bin', 'codex'));
  } catch {
    return [];
  }
}

function onPath() {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  return directories.map((directory) => join(directory, 'codex'));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A codex that was named or found but does not run is a mistake to hear about, not a reason to skip it. */
function requireWorking(path) {
  const { stdout, status } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status !== 0) throw new UsageError(`${path} does not run; set CODEX_BIN to a codex that does.`);
  return { path, version: stdout.trim() };
}
