/** What tools look at to find a proxy for HTTP. There is no one spelling. */
export const HTTP_NAMES: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'http_proxy',
  'https_proxy',
  'WS_PROXY',
  'WSS_PROXY',
  'ws_proxy',
  'wss_proxy',
  'YARN_HTTP_PROXY',
  'YARN_HTTPS_PROXY',
  'npm_config_https_proxy',
  'npm_config_proxy',
  'NPM_CONFIG_HTTPS_PROXY',
  'NPM_CONFIG_PROXY',
  'BUNDLE_HTTP_PROXY',
  'BUNDLE_HTTPS_PROXY',
  'PIP_PROXY',
  'DOCKER_HTTP_PROXY',
  'DOCKER_HTTPS_PROXY',
  'CARGO_HTTP_PROXY',
];

/** The same for proxies of every kind. */
export const SOCKS_NAMES: readonly string[] = ['ALL_PROXY', 'all_proxy', 'FTP_PROXY', 'ftp_proxy'];

const EXEMPT_NAMES: readonly string[] = [
  'NO_PROXY',
  'no_proxy',
  'npm_config_noproxy',
  'NPM_CONFIG_NOPROXY',
  'YARN_NO_PROXY',
  'BUNDLE_NO_PROXY',
];

/** Inside, this is the sandbox's own loopback: servers that its programs started. */
const LOCAL = 'localhost,127.0.0.1,::1';

/** Java reads none of these, but every program of it reads this one, and says so on stderr. */
const JAVA = 'JAVA_TOOL_OPTIONS';

/** How programs use the proxy. */
export interface ProxyUse {
  /** The variables of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Local addresses are those of the sandbox, which programs reach without the proxy. */
  readonly localIsInside: boolean;
  /** Whether the proxy speaks SOCKS. Default true. */
  readonly socks?: boolean | undefined;
}

/**
 * Variables that lead the programs of a sandbox to the proxy on this port of its loopback. `npm_config_http_proxy` is not
 * among them: npm warns about it whenever it runs, and reads the others.
 */
export function proxyVariables(
  port: number,
  { env, localIsInside, socks = true }: ProxyUse,
): Record<string, string> {
  const http = `http://127.0.0.1:${port}`;
  return {
    ...all(HTTP_NAMES, http),
    ...all(SOCKS_NAMES, socks ? `socks5h://127.0.0.1:${port}` : http),
    ...all(EXEMPT_NAMES, localIsInside ? LOCAL : ''),
    [JAVA]: [...(env[JAVA] ? [env[JAVA]] : []), ...javaOptions(port, localIsInside)].join(' '),
    CODEX_NETWORK_PROXY_ACTIVE: '1',
    CODEX_NETWORK_ALLOW_LOCAL_BINDING: localIsInside ? '1' : '0',
    ELECTRON_GET_USE_PROXY: 'true',
    NODE_USE_ENV_PROXY: '1',
  };
}

/** By itself, Java goes to local addresses without a proxy. */
function javaOptions(port: number, localIsInside: boolean): string[] {
  const proxies = ['http', 'https'].flatMap((scheme) => [
    `-D${scheme}.proxyHost=127.0.0.1`,
    `-D${scheme}.proxyPort=${port}`,
  ]);
  return localIsInside ? proxies : [...proxies, '-Dhttp.nonProxyHosts='];
}

function all(names: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}
