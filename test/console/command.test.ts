// Needs: openssl
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { socketWire, startParams, WireClient } from '../../testkit/wire-client.mjs';
import { makeCertificate } from '../harness/certificate.js';
import { TestFolder } from '../harness/processes.js';
import { serve } from '../harness/serve.js';

const TOKEN = 'a token of more than thirty-two characters';

interface SignedIn {
  readonly headers: { readonly origin: string; readonly cookie: string };
  readonly proof: string;
  readonly machines: readonly { readonly id: string; readonly kind: string; readonly where: string }[];
}

async function signIn(link: string): Promise<SignedIn> {
  const { origin, hash } = new URL(link);
  const answer = await fetch(`${origin}/api/sign-in`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ key: hash.slice('#key='.length) }),
  });
  const { proof, machines } = (await answer.json()) as SignedIn;
  return {
    headers: { origin, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' },
    proof,
    machines,
  };
}

async function connect({ headers, proof }: SignedIn, machine: string): Promise<WebSocket> {
  const url = `${headers.origin.replace('http', 'ws')}/machines/${machine}`;
  const socket = new WebSocket(url, ['execwire', `proof.${proof}`], { headers });
  await once(socket, 'open');
  return socket;
}

test('the console relays to configured machines, and says which cannot be reached', async () => {
  using folder = new TestFolder();
  await using box = await serve();
  const lines = [
    `[[environments]]\nid = "box"\nurl = "${box.url}"`,
    '[[environments]]\nid = "gone"\nurl = "ws://127.0.0.1:1"\nauth_bearer_token = "secret-token"',
  ];
  writeFileSync(folder.file('environments.toml'), lines.join('\n'));
  const env = { EXECWIRE_HOME: folder.path, XDG_STATE_HOME: folder.path };
  await using opened = await ServerProcess.start({ command: 'console', env });
  const who = await signIn(opened.url);
  expect(who.machines).toEqual([
    { id: 'local', kind: 'local', where: 'this machine' },
    { id: 'box', kind: 'url', where: box.url },
    { id: 'gone', kind: 'url', where: 'ws://127.0.0.1:1' },
  ]);
  for (const id of ['box', 'local']) {
    const wire = new WireClient(socketWire(await connect(who, id)));
    await wire.handshake();
    await wire.call('process/start', startParams('p', ['echo', id]));
    expect((await wire.closedEvents('p')).length).toBeGreaterThan(0);
  }
  const gone = await connect(who, 'gone');
  const [code, reason] = await once(gone, 'close');
  expect(code).toBe(4502);
  expect(String(reason)).not.toContain('secret');
});

test('with TLS, people sign in with a token, and nothing that lets anybody in is printed', async () => {
  using folder = new TestFolder();
  const [cert, key] = makeCertificate(folder);
  writeFileSync(folder.file('token'), TOKEN);
  const env = { EXECWIRE_HOME: folder.path, XDG_STATE_HOME: folder.path };
  const tls = ['--tls-cert', cert, '--tls-key', key];
  const args = ['--listen', 'https://127.0.0.1:0', ...tls, '--console-token-file', folder.file('token')];
  await using opened = await ServerProcess.start({ command: 'console', args, env });
  expect(opened.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/);
  const { origin } = new URL(opened.url);
  const attempt = async (token: string) => {
    const headers = { origin, 'content-type': 'application/json' };
    const sent = request(`${origin}/api/sign-in`, { method: 'POST', headers, ca: readFileSync(cert) });
    sent.end(JSON.stringify({ token }));
    const [response] = await once(sent, 'response');
    response.resume();
    return { status: response.statusCode, cookie: String(response.headers['set-cookie']) };
  };
  expect((await attempt('another token')).status).toBe(403);
  const { status, cookie } = await attempt(TOKEN);
  expect(status).toBe(200);
  expect(cookie).toMatch(
    /^__Host-execwire-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+; Secure$/,
  );
});

test('refuses addresses that others could reach, and strange ones', async () => {
  for (const [url, message] of [
    ['http://0.0.0.0:0', 'without TLS and a token'],
    ['https://127.0.0.1:0', '--tls-cert'],
    ['ws://127.0.0.1:0', 'use http://IP:PORT'],
    ['http://localhost:0', 'must be an IP address'],
  ] as const) {
    const { code, stderr } = await execwire(['console', '--listen', url]);
    expect({ url, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  }
});
