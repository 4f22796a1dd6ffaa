import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MetricsListener, ServerMetrics } from '../../src/operation/index.js';
import { tally } from './tally.js';

const IDLE = { connections: 0, sessions: 0, processes: 0, unsentBytes: 0, unreadInputBytes: 0 };
/** Twice as many connections as it keeps. */
const CONNECTIONS = 32;

let listener: MetricsListener;
beforeEach(async () => {
  const metrics = await ServerMetrics.create(() => IDLE);
  listener = await MetricsListener.open('127.0.0.1:0', { metrics, admits: () => true });
});
afterEach(() => listener.close());

/** What a request is answered with; a browser chooses these headers, not its page. */
async function statusOf(path: string, headers: Record<string, string>): Promise<number> {
  const { port } = new URL(listener.url);
  const sent = request({ host: '127.0.0.1', port, path, agent: false, headers });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

describe('metrics on loopback', () => {
  test('are not for pages in a browser, under whatever name', async () => {
    const { host, port } = new URL(listener.url);
    const pages = [
      { host: `rebound.example:${port}` },
      { host: `localhost.rebound.example:${port}` },
      { host, origin: 'http://evil.example' },
      { host, origin: 'null' },
    ];
    const statuses = await Promise.all(pages.map((headers) => statusOf('/metrics', headers)));
    tally('pages that ask for metrics', {
      tries: pages.length,
      successes: statuses.filter((status) => status === 200).length,
    });
    expect(statuses).toEqual(pages.map(() => 403));
    for (const known of [host, `localhost:${port}`])
      expect(await statusOf('/metrics', { host: known })).toBe(200);
    // That somebody is there is no secret, and whoever looks may know us by any name.
    expect(await statusOf('/healthz', { host: 'any.name.example' })).toBe(200);
  });

  test('are there for a scraper while somebody holds connections', async () => {
    const { hostname, port } = new URL(listener.url);
    const held: Socket[] = [];
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      held.push(socket);
    }
    const status = await statusOf('/metrics', {}).catch(() => 0);
    tally('connections held to metrics', { tries: CONNECTIONS, successes: status === 200 ? 0 : 1 });
    expect(status).toBe(200);
    for (const socket of held) socket.destroy();
  });
});
