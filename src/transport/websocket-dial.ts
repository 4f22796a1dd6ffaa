import { ExecError } from '../protocol/errors.js';
import type { Channel } from '../rpc/index.js';
import { type DialOptions, parseTarget } from './dial-target.js';
import { dialInBrowser } from './websocket-browser.js';
import { dialInNode } from './websocket-node.js';

export { DEFAULT_CONNECT_TIMEOUT_MS, type DialOptions } from './dial-target.js';

/** Connects to `ws://`, `wss://` or `unix:///path`. Rejects with `notConnected` and the reason. */
export async function dialWebSocket(url: string, options: DialOptions = {}): Promise<Channel> {
  const target = parseTarget(url);
  if (isNode()) return await dialInNode(target, options);
  if (options.authBearerToken !== undefined || options.requestId !== undefined) {
    throw new ExecError(
      'unsupported',
      'A browser cannot send a bearer token or a request id with a WebSocket. Connect through a gateway that adds it.',
    );
  }
  return await dialInBrowser(target, options);
}

function isNode(): boolean {
  return typeof process !== 'undefined' && typeof process.versions?.node === 'string';
}
