import { arch, release, type } from 'node:os';
import { join } from 'node:path';
import { type AppParsedParams, type AppResult, ExecError } from '../protocol/index.js';
import { homeDirectory } from '../protocol/home-directory.js';

/** Characters allowed in an HTTP header, where the name ends up. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** A client's description of itself in `initialize`. */
export interface ClientProfile {
  readonly name: string;
  readonly experimentalApi: boolean;
  /** Notifications it opted out of. */
  readonly unwanted: ReadonlySet<string>;
}

export function clientProfile(params: AppParsedParams<'initialize'>): ClientProfile {
  const { clientInfo, capabilities } = params;
  if (!HEADER_VALUE.test(clientInfo.name)) {
    throw new ExecError('invalidRequest', 'Invalid clientInfo.name: it must be a valid HTTP header value.');
  }
  return {
    name: clientInfo.name,
    experimentalApi: capabilities?.experimentalApi ?? false,
    unwanted: new Set(capabilities?.optOutNotificationMethods ?? []),
  };
}

/** The server's description of itself for a client. */
export function serverProfile(
  params: AppParsedParams<'initialize'>,
  options: { version: string; codexHome: string | undefined },
): AppResult<'initialize'> {
  const { name, version } = params.clientInfo;
  const platform = `${type()} ${release()}; ${arch()}`;
  return {
    userAgent: `${name}/${options.version} (${platform}) execwire (${name}; ${version})`,
    codexHome: options.codexHome ?? process.env.CODEX_HOME ?? join(homeDirectory(), '.codex'),
    platformFamily: process.platform === 'win32' ? 'windows' : 'unix',
    platformOs: platformName(),
  };
}

function platformName(): string {
  if (process.platform === 'darwin') return 'macos';
  return process.platform === 'win32' ? 'windows' : process.platform;
}
