import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { type McpHttpServer, startMcpHttp } from '../../src/mcp/index.js';
import { tally } from './tally.js';

/** As many clients as a server takes. */
const CLIENTS = 64;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
};

const environment = new LocalEnvironment();
let server: McpHttpServer;
beforeAll(async () => {
  server = await startMcpHttp({ environment, version: '0.0.0' });
});
afterAll(async () => {
  await server.close();
  await environment.close();
});

function headers(session?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${server.token}`,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
}

/** Sends the head of a request. The function it returns sends the rest, and resolves to the status of the answer. */
async function begin(body: object): Promise<() => Promise<number>> {
  const text = JSON.stringify(body);
  const sent = request(server.url, {
    method: 'POST',
    agent: false,
    headers: { ...headers(), 'content-length': String(text.length), expect: '100-continue' },
  });
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
  });
  sent.flushHeaders();
  // The server has taken it on, or refused it already.
  await Promise.race([once(sent, 'continue'), status]);
  return async () => {
    sent.end(text);
    return await status;
  };
}

test('clients that all come at once are no more than those that come one by one', async () => {
  const slow = await Promise.all(Array.from({ length: 2 * CLIENTS }, () => begin(INITIALIZE)));
  const statuses = await Promise.all(slow.map((rest) => rest()));
  const admitted = statuses.filter((status) => status === 200).length;
  tally('MCP clients at once', { tries: slow.length, successes: Math.max(0, admitted - CLIENTS) });
  expect(admitted).toBe(CLIENTS);
  expect(statuses.filter((status) => status === 503)).toHaveLength(CLIENTS);
});

test('requests that open nothing take no place', async () => {
  await using own = await startMcpHttp({ environment, version: '0.0.0' });
  const statuses: number[] = [];
  for (let count = 0; count < CLIENTS + 1; count += 1) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const authorization = `Bearer ${own.token}`;
    const answer = await fetch(own.url, { method: 'POST', headers: { ...headers(), authorization }, body });
    await answer.text();
    statuses.push(answer.status);
  }
  expect(new Set(statuses)).toEqual(new Set([400]));
  const answer = await fetch(own.url, {
    method: 'POST',
    headers: { ...headers(), authorization: `Bearer ${own.token}` },
    body: JSON.stringify(INITIALIZE),
  });
  expect(answer.status).toBe(200);
});
