import { type AppParsedParams, ExecError } from '../protocol/index.js';

/** Where an added environment is. */
export interface EnvironmentTarget {
  readonly environmentId: string;
  readonly url: string;
  readonly connectTimeoutMs?: number;
}

/** As in environments.toml: an id is also a key and a word on command lines. */
const ENVIRONMENT_ID = /^[A-Za-z0-9_-]{1,64}$/;
const RESERVED_IDS = ['local', 'none'];

/** Checks an environment before anything is changed, so that a bad one fails here and not at its first use. */
export function environmentTarget(request: AppParsedParams<'environment/add'>): EnvironmentTarget {
  const { environmentId, connectTimeoutMs } = request;
  if (environmentId === '') throw invalid('environment id cannot be empty');
  if (RESERVED_IDS.includes(environmentId)) throw invalid(`environment id \`${environmentId}\` is reserved`);
  if (!ENVIRONMENT_ID.test(environmentId)) {
    throw invalid('environment id must be up to 64 letters, digits, `_` and `-`');
  }
  const target = { environmentId, url: serverUrl(request.execServerUrl.trim()) };
  return connectTimeoutMs == null ? target : { ...target, connectTimeoutMs };
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
