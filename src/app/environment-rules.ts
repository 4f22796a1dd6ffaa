import { type AppParsedParams, ExecError } from '../protocol/index.js';

/** Where an added environment is. */
export interface EnvironmentTarget {
  readonly environmentId: string;
  readonly url: string;
  readonly connectTimeoutMs?: number;
  readonly authBearerToken?: string;
  readonly websocketRequestId?: string;
}

/** The same rule as in environments.toml: an id is also a key and a word on command lines. */
const ENVIRONMENT_ID = /^[A-Za-z0-9_-]{1,64}$/;
const RESERVED_IDS = ['local', 'none'];

/** Checks an environment before adding it, so that an invalid one fails here and not on first use. */
export function environmentTarget(request: AppParsedParams<'environment/add'>): EnvironmentTarget {
  const { environmentId, connectTimeoutMs } = request;
  if (environmentId === '') throw invalid('environment id cannot be empty');
  if (RESERVED_IDS.includes(environmentId)) throw invalid(`environment id \`${environmentId}\` is reserved`);
  if (!ENVIRONMENT_ID.test(environmentId)) {
    throw invalid('environment id must be up to 64 letters, digits, `_` and `-`');
  }
  const url = serverUrl(request.execServerUrl.trim());
  return {
    environmentId,
    url,
    ...headersFor(url, request),
    ...(connectTimeoutMs == null ? {} : { connectTimeoutMs }),
  };
}

/** Characters that a header cannot carry. Never quoted in an error: the value may be a token. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNSENDABLE = /[\0-\x08\x0a-\x1f\x7f]/;

function headersFor(
  url: string,
  request: AppParsedParams<'environment/add'>,
): Pick<EnvironmentTarget, 'authBearerToken' | 'websocketRequestId'> {
  const { authBearerToken, websocketRequestId } = request;
  const headers = {
    ...(authBearerToken == null ? {} : { authBearerToken }),
    ...(websocketRequestId == null ? {} : { websocketRequestId }),
  };
  for (const [name, value] of Object.entries(headers))
    if (UNSENDABLE.test(value))
      throw invalid(`\`${name}\` contains a line break or another control character`);
  if (Object.keys(headers).length > 0 && !staysPrivate(url))
    throw invalid('headers for an exec server need wss:// or an address of this machine');
  return headers;
}

/** Whether the connection is safe from eavesdroppers. */
function staysPrivate(url: string): boolean {
  if (url.startsWith('unix:')) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'wss:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function serverUrl(text: string): string {
  if (text === '') throw invalid('remote environment requires an exec-server url');
  if (text === 'none') throw invalid('remote environment cannot use disabled exec-server url');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWebSocket = url !== undefined && /^wss?:$/.test(url.protocol) && url.hostname !== '';
  if (!isWebSocket && !/^unix:\/\/\/./.test(text)) {
    throw invalid('the exec-server url must look like ws://HOST:PORT, wss://HOST:PORT or unix:///PATH');
  }
  return text;
}

function invalid(message: string): ExecError {
  return new ExecError('invalidRequest', message);
}
