import { readFileSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EnvironmentInfo } from '../protocol/index.js';
import { packageFile } from './kernel/package-file.js';
import { crypto } from './kernel/random.js';

/** This package's version, as its package.json says. */
export const version: string = readVersion();

/**
 * The release of Codex whose protocol is spoken here. Clients compare it before they use what a release brought, whatever is
 * announced; what is behind the plus they pass over.
 */
const CODEX_VERSION = '0.166.0';

/** Describes this machine as a client sees it. Capabilities are the server's to add. */
export function machineInfo(): Omit<EnvironmentInfo, 'capabilities'> {
  const shell = userShell();
  const temporary = process.env.TMPDIR;
  return {
    shell: { name: basename(shell), path: shell },
    executorVersion: `${CODEX_VERSION}+execwire.${version}`,
    providerId: `sha256:${crypto().createHash('sha256').update(machineIdentity()).digest('hex')}`,
    cwd: uri(process.cwd()),
    userHomeDir: uri(homedir()),
    platformOs:
      process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'windows' : process.platform,
    prependPathDirs: [],
    temporaryDirectories: temporary ? [uri(temporary)] : [],
    tempDir: uri(tmpdir()),
  };
}

function uri(path: string): string {
  return pathToFileURL(path).href;
}

/** The user's shell; what a service without an account gets is the shell every POSIX machine has. */
function userShell(): string {
  const shell = userInfoShell() ?? process.env.SHELL;
  return shell?.startsWith('/') ? shell : '/bin/sh';
}

function userInfoShell(): string | null {
  try {
    return userInfo().shell;
  } catch {
    return null;
  }
}

function machineIdentity(): string {
  let machineId = hostname();
  try {
    machineId = readFileSync('/etc/machine-id', 'utf8').trim() || machineId;
  } catch {
    // Not every machine has one; its name is the next best.
  }
  return `${machineId}\n${process.getuid?.() ?? ''}`;
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  const found: unknown =
    typeof manifest === 'object' && manifest ? Reflect.get(manifest, 'version') : undefined;
  return typeof found === 'string' ? found : '0.0.0';
}
