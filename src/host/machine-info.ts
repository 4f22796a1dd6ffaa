import { readFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EnvironmentInfo } from '../protocol/index.js';
import { packageFile } from './kernel/package-file.js';
import { crypto } from './kernel/random.js';
import { homeDirectory } from '../protocol/home-directory.js';

/** The version of this package, from its package.json. */
export const version: string = readVersion();

/**
 * The Codex release whose protocol we speak. Clients check it before they use a release's features, whatever is
 * announced; they ignore what follows the plus sign.
 */
const CODEX_VERSION = '0.166.0';

/** Describes this machine to clients. The server adds the capabilities. */
export function machineInfo(): Omit<EnvironmentInfo, 'capabilities'> {
  const shell = firstShell([userInfoShell(), process.env.SHELL]);
  const temporary = process.env.TMPDIR;
  return {
    shell: { name: basename(shell), path: shell },
    executorVersion: `${CODEX_VERSION}+execwire.${version}`,
    providerId: `sha256:${crypto().createHash('sha256').update(machineIdentity()).digest('hex')}`,
    cwd: uri(process.cwd()),
    userHomeDir: uri(homeDirectory()),
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

/** Service accounts have these to prevent logins. They cannot run commands. */
const NO_SHELL = /\/(nologin|false)$/;

/** The first usable shell, or else the one every POSIX machine has. */
export function firstShell(candidates: readonly (string | null | undefined)[]): string {
  return candidates.find((path) => path?.startsWith('/') && !NO_SHELL.test(path)) ?? '/bin/sh';
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
    // Not every machine has an id; the host name is the next best.
  }
  return `${machineId}\n${process.getuid?.() ?? ''}`;
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  const found: unknown =
    typeof manifest === 'object' && manifest ? Reflect.get(manifest, 'version') : undefined;
  return typeof found === 'string' ? found : '0.0.0';
}
