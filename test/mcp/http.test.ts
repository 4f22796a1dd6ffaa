import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { type McpHttpServer, startMcpHttp } from '../../src/mcp/index.js';
import { EventLog } from '../../src/mcp/event-log.js';
import { gone, TestFolder } from '../harness/processes.js';
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
    const { host, port } = new URL(server.url);
    // Another program on this machine may serve pages, too.
    expect(await statusOf({ ...json, authorization, origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await statusOf({ ...json, authorization, host, origin: `https://${host}` })).toBe(403);
    expect(await statusOf({ ...json, host, origin: `http://${host}` })).toBe(401);
    expect(await statusOf({ ...json, authorization, host, origin: `http://${host}` })).toBe(400);
    const named = `localhost:${port}`;
    expect(await statusOf({ ...json, authorization, host: named, origin: `http://${named}` })).toBe(400);
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

describe('a connection that breaks during a call', () => {
  const headers = (session?: string): Record<string, string> => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${server.token}`,
    'mcp-protocol-version': '2025-11-25',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  });
  const post = (body: object, session?: string, signal?: AbortSignal): Promise<Response> =>
    fetch(server.url, {
      method: 'POST',
      headers: headers(session),
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal ? { signal } : {}),
    });

  async function openSession(): Promise<string> {
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const answer = await post({ id: 0, method: 'initialize', params });
    await answer.text();
    const session = answer.headers.get('mcp-session-id') ?? '';
    await post({ method: 'notifications/initialized' }, session);
    return session;
  }

  test('is continued where it broke, and the command runs on', async () => {
    using folder = new TestFolder();
    const session = await openSession();
    const cut = new AbortController();
    const cmd = `until [ -e ${folder.file('go')} ]; do sleep 0.02; done; echo rest`;
    const args = { cmd, login: false, yield_time_ms: 30_000 };
    const call = { id: 1, method: 'tools/call', params: { name: 'exec_command', arguments: args } };
    const answer = await post(call, session, cut.signal);
    const { value } = (await answer.body?.getReader().read()) ?? {};
    const first = Buffer.from(value ?? []).toString();
    // It says how to come back before anything else.
    expect(first).toMatch(/^id: \d+\nretry: 1000\ndata: \n\n$/);
    cut.abort();
    const [, id = ''] = /^id: (\d+)/.exec(first) ?? [];
    const resume = (lastId: string): Promise<Response> =>
      fetch(server.url, { headers: { ...headers(session), 'last-event-id': lastId } });
    writeFileSync(folder.file('go'), '');
    const text = await untilMessage(await resume(id));
    expect(text).toContain('"id":1');
    expect(text).toContain('rest\\n');
    expect((await resume('no-such-event')).status).toBe(400);
  });

  /** Reads events up to the first with a message. */
  async function untilMessage(response: Response): Promise<string> {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (/^data: \{.*\}\n\n/m.test(text)) break;
    }
    return text;
  }
});

test('the log of events is bounded, and does not pretend to have what it dropped', async () => {
  const log = new EventLog(200);
  const message = (id: number) => ({ jsonrpc: '2.0' as const, id, result: { text: 'x'.repeat(50) } });
  const ids: string[] = [];
  for (let id = 1; id <= 5; id += 1) ids.push(await log.storeEvent(id % 2 ? 'odd' : 'even', message(id)));
  const [first = ''] = ids;
  expect(await log.getStreamIdForEventId(first)).toBeUndefined();
  await expect(log.replayEventsAfter(first, { send: async () => undefined })).rejects.toThrow(
    'no longer kept',
  );
  const sent: string[] = [];
  const stream = await log.replayEventsAfter(ids[3] ?? '', { send: async (id) => void sent.push(id) });
  expect([stream, sent]).toEqual(['even', []]);
});
