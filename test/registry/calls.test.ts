import { writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RegistryTokenFile } from '../../src/registry/service/index.js';
import { TestFolder } from '../harness/processes.js';
import { RegistrySite, someKey, TestLine } from './registry-site.js';

let site: RegistrySite;
beforeEach(async () => {
  site = await RegistrySite.open();
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

const registerBody = { security_profile: 'noise_hybrid_ik_v1', executor_public_key: someKey() };

test.each([
  ['without a token', 'a/register', { body: registerBody }, 401, 'unauthorized'],
  ['with an unknown token', 'a/register', { token: 'x', body: registerBody }, 401, 'unauthorized'],
  ['a token in the address', 'a/register?token=machine', { body: registerBody }, 401, 'unauthorized'],
  [
    'a token as a password',
    'a/register',
    { body: registerBody, headers: { authorization: `Basic ${btoa('machine:machine')}` } },
    401,
    'unauthorized',
  ],
  [
    'a token in a cookie',
    'a/register',
    { body: registerBody, headers: { cookie: 'token=machine' } },
    401,
    'unauthorized',
  ],
  ['a client that registers', 'a/register', { token: 'client', body: registerBody }, 401, 'unauthorized'],
  ['a machine that connects', 'a/connect', { token: 'machine', body: registerBody }, 401, 'unauthorized'],
  ['a machine of another id', 'b/register', { token: 'machine-a', body: registerBody }, 403, 'forbidden'],
  ['a client of another id', 'b/connect', { token: 'client-a', body: {} }, 403, 'forbidden'],
  [
    'an id with a slash',
    'a%2Fb/register',
    { token: 'machine', body: registerBody },
    400,
    'invalid_environment_id',
  ],
  ['an unknown call', 'a/steal', { token: 'machine' }, 404, 'not_found'],
  ['another method', 'a/register', { token: 'machine', method: 'GET' }, 405, 'method_not_allowed'],
  ['no JSON', 'a/register', { token: 'machine', body: '{' }, 400, 'invalid_request'],
  [
    'no key',
    'a/register',
    { token: 'machine', body: { security_profile: 'noise_hybrid_ik_v1' } },
    400,
    'invalid_request',
  ],
  ['a long body', 'a/register', { token: 'machine', body: ' '.repeat(20_000) }, 413, 'too_large'],
])('refused: %s', async (_, path, options, status, code) => {
  expect(await site.call(path, options)).toMatchObject({ status, answer: { error: { code } } });
});

test.each([
  ['another suite', { suite: 'Noise_IK' }],
  ['a short key', { x25519_public_key: Buffer.alloc(31).toString('base64') }],
  ['another spelling of the same bytes', { x25519_public_key: `${Buffer.alloc(32).toString('base64')}=` }],
  ['a member too many', { more: 'x' }],
])('a key with %s is none', async (_, change) => {
  const body = { ...registerBody, executor_public_key: { ...someKey(), ...change } };
  expect(await site.call('a/register', { token: 'machine', body })).toMatchObject({ status: 400 });
});

test('what is wrong with a body is told without repeating it', async () => {
  const body = { harness_public_key: { secret: 'do-not-repeat' } };
  const { answer } = await site.call('a/connect', { token: 'client', body });
  expect(JSON.stringify(answer)).not.toContain('do-not-repeat');
});

describe('validate', () => {
  const key = someKey();
  async function introduce(): Promise<{
    machine: TestLine;
    ask: (change?: object, how?: object) => Promise<unknown>;
  }> {
    const { line: machine, registration } = await site.machine();
    const granted = await site.connect('a', 'client', key);
    const client = await TestLine.open(granted['url'] ?? '');
    client.send('s-1', { kind: 'resume' });
    await machine.next();
    const ask = async (change: object = {}, how: object = {}): Promise<unknown> => {
      const body = {
        executor_registration_id: registration['executor_registration_id'],
        harness_public_key: key,
        harness_key_authorization: granted['harness_key_authorization'],
        ...change,
      };
      const headers = { 'x-codex-noise-stream-id': 's-1' };
      const { status, answer } = await site.call('a/validate', { token: 'machine', body, headers, ...how });
      return status === 200 ? answer : status;
    };
    return { machine, ask };
  }

  test('only what was granted is valid, for the machine it was granted for', async () => {
    const { ask } = await introduce();
    expect(await ask()).toEqual({ valid: true, client: 'client' });
    expect(await ask({ harness_public_key: someKey() })).toEqual({ valid: false });
    expect(await ask({ harness_key_authorization: 'guess' })).toEqual({ valid: false });
    expect(await ask({}, { headers: { 'x-codex-noise-stream-id': 's-2' } })).toEqual({ valid: false });
    expect(await ask({ executor_registration_id: 'another' })).toBe(404);
    expect(await ask({}, { token: 'machine-2' })).toBe(404);
    expect(await ask({}, { token: 'client' })).toBe(401);
  });

  test('nothing is valid once the client is gone', async () => {
    const { machine, ask } = await introduce();
    const gone = machine.next();
    machine.send('s-1', { kind: 'reset', reason: 'enough' });
    await site.client('s-2');
    expect(await gone).toBe('s-2 resume');
    expect(await ask()).toEqual({ valid: false });
  });
});

describe('the file with tokens', () => {
  const digest = createHash('sha256').update('secret').digest('hex');

  test.each([
    ['build-7', 'build-7', true],
    ['build-7', 'build-77', false],
    ['build-*', 'build-', true],
    ['*', 'anything', true],
    ['a*c*e', 'abcde', true],
    ['a*c*e', 'ace', true],
    ['ab*ba', 'aba', false],
    ['*-ci', 'ci', false],
  ])('%s and %s: %s', (pattern, id, expected) => {
    using folder = new TestFolder();
    const path = folder.file('registry.toml');
    const entry = `name = "x"\ntoken_sha256 = "${digest}"\nenvironments = ["${pattern}"]\n`;
    writeFileSync(path, `[[executors]]\n${entry}`);
    const tokens = new RegistryTokenFile(path);
    expect(tokens.executorOf('secret')?.may(id)).toBe(expected);
    expect(tokens.clientOf('secret')).toBeUndefined();
    expect(tokens.executorOf('Secret')).toBeUndefined();
  });

  test('what is read again holds for whoever is known already; a broken file changes nothing', () => {
    using folder = new TestFolder();
    const path = folder.file('registry.toml');
    const write = (name: string, environments: string): void =>
      writeFileSync(
        path,
        `[[clients]]\nname = "${name}"\ntoken_sha256 = "${digest}"\nenvironments = ["${environments}"]\n`,
      );
    write('before', 'a');
    const tokens = new RegistryTokenFile(path);
    const bearer = tokens.clientOf('secret');
    write('after', 'b');
    tokens.reload();
    expect(tokens.clientOf('secret')).toBe(bearer);
    expect([bearer?.name, bearer?.may('a'), bearer?.may('b')]).toEqual(['after', false, true]);
    writeFileSync(path, '[[clients]]\n');
    expect(() => tokens.reload()).toThrow(/clients.0/);
    expect(bearer?.may('b')).toBe(true);
    writeFileSync(path, '');
    tokens.reload();
    expect(tokens.clientOf('secret')).toBeUndefined();
    expect(bearer?.may('b')).toBe(false);
  });
});
