import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to a server for programs that cannot send its token. Everything else passes as it is. */
export interface TokenProxy extends AsyncDisposable {
  readonly url: string;
}

/** Passes requests on with the token added. They name the proxy where they would name the server itself. */
export async function openTokenProxy(target: string, authorization: string): Promise<TokenProxy> {
  const to = new URL(target);
  const server = createServer((asked, answer) => {
    const own = `:${portOf(server)}`;
    const readdressed = (text: string): string =>
      text.endsWith(own) ? `${text.slice(0, -own.length)}:${to.port}` : text;
    const { host, origin, ...rest } = asked.headers;
    const headers = {
      ...rest,
      authorization,
      ...(host === undefined ? {} : { host: readdressed(host) }),
      ...(origin === undefined ? {} : { origin: readdressed(origin) }),
    };
    const { url: path = '/', method = 'GET' } = asked;
    const passed = request({ host: to.hostname, port: to.port, path, method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}${to.pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function portOf(server: ReturnType<typeof createServer>): number {
  return (server.address() as AddressInfo).port;
}
