import { WebSocket } from 'ws';
import type { AppCase, CaseBench } from '../case.js';

/** Status and body of a plain request. */
async function plain(bench: CaseBench, path: string, headers: Record<string, string> = {}): Promise<unknown> {
  const url = new URL(path, bench.url?.replace('ws:', 'http:'));
  const answer = await fetch(url, { headers });
  return { status: answer.status, empty: (await answer.text()) === '' };
}

/** The status an upgrade is answered with; 101 when it succeeds. */
function upgrade(bench: CaseBench, path: string, headers: Record<string, string> = {}): Promise<number> {
  const socket = new WebSocket(new URL(path, bench.url), { headers });
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, answer) => {
      socket.terminate();
      resolve(answer.statusCode ?? 0);
    });
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
  });
}

const ORIGIN = { Origin: 'http://127.0.0.1' };

/** What only a listener has. */
export const webSocketCases: readonly AppCase[] = [
  { name: 'ws: GET /readyz', play: (bench) => plain(bench, '/readyz') },
  { name: 'ws: GET /healthz', play: (bench) => plain(bench, '/healthz') },
  {
    name: 'ws: GET /readyz from a browser',
    play: async (bench) => ((await plain(bench, '/readyz', ORIGIN)) as { status: number }).status,
  },
  {
    name: 'ws: GET of anything else',
    play: async (bench) => ((await plain(bench, '/other')) as { status: number }).status,
  },
  { name: 'ws: any path is a way in', play: (bench) => upgrade(bench, '/any/path?query') },
  { name: 'ws: browsers are kept out', play: (bench) => upgrade(bench, '/', ORIGIN) },
  {
    name: 'ws: binary messages are not read',
    play: async (bench) => {
      const socket = new WebSocket(bench.url ?? '');
      await new Promise((resolve) => {
        socket.once('open', resolve);
      });
      const initialize = JSON.stringify({
        id: 1,
        method: 'initialize',
        params: { clientInfo: { name: 'probe', version: '1' } },
      });
      const answered = new Promise<unknown>((resolve) => {
        socket.once('message', (data: Buffer) =>
          resolve((JSON.parse(data.toString()) as { id: unknown }).id),
        );
        socket.once('close', () => resolve('closed'));
      });
      socket.send(Buffer.from(initialize), { binary: true });
      socket.send(initialize.replace('"id":1', '"id":2'));
      const first = await answered;
      socket.terminate();
      return first;
    },
  },
];
