import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { type McpHttpServer, startMcpHttp } from '../../src/mcp/index.js';
import { gone } from '../harness/processes.js';
import { connectHttp } from './clients.js';
import { mcpContract } from './mcp.contract.js';

const environment = new LocalEnvironment();
let server: McpHttpServer;

beforeAll(async () => {
  server = await startMcpHttp({ environment, version: '0.0.0', structured: true });
});

afterAll(async () => {
  await server.close();
  await environment.close();
});

mcpContract('HTTP', () => connectHttp(server));

/** The status of a bare request, with headers that `fetch` would not let us choose. */
function statusOf(headers: Record<string, string>, path = '/mcp'): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(server.url);
    const asking = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asking.once('error', reject);
    asking.end('{}');
  });
}

describe('who gets in over HTTP', () => {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  test('nobody without the token, no page, no foreign name', async () => {
    const authorization = `Bearer ${server.token}`;
    expect(await statusOf(json)).toBe(401);
    expect(await statusOf({ ...json, authorization: 'Bearer wrong' })).toBe(401);
    expect(await statusOf({ ...json, authorization, origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf({ ...json, authorization, origin: 'null' })).toBe(403);
    expect(await statusOf({ ...json, authorization, host: 'evil.example' })).toBe(403);
    expect(await statusOf({ ...json, authorization }, '/')).toBe(404);
    expect(await statusOf({ ...json, authorization }, '//')).toBe(404);
    expect(await statusOf({ ...json, authorization, 'mcp-session-id': 'unknown' })).toBe(404);
    expect(await statusOf({ ...json, authorization })).toBe(400);
  });

  test('clients do not see the sessions of others', async () => {
    await using first = await connectHttp(server);
    await using second = await connectHttp(server);
    await first.client.callTool({
      name: 'exec_command',
      arguments: { cmd: 'read x', login: false, yield_time_ms: 0 },
    });
    const seen = await second.client.callTool({ name: 'list_sessions', arguments: {} });
    expect(seen.structuredContent).toEqual({ sessions: [] });
  });

  test('closing the server ends the sessions of all clients', async () => {
    const own = await startMcpHttp({ environment, version: '0.0.0' });
    const connected = await connectHttp(own);
    const mark = `mcp-closed-${process.pid}`;
    await connected.client.callTool({
      name: 'exec_command',
      arguments: { cmd: `exec bash -c 'read x' ${mark}`, login: false, yield_time_ms: 0 },
    });
    await own.close();
    await gone(mark);
    await connected.client.close();
  });
});
