import { describe, expect, test } from 'vitest';
import { canonicalHost, parseAuthority } from '../../../src/host/network/host-name.js';
import { HostPatterns } from '../../../src/host/network/host-patterns.js';
import { isPublicAddress } from '../../../src/host/network/public-address.js';
import { RuleBook } from '../../../src/host/network/rules.js';

const at = (host: string, port = 443) => ({ host, port });

describe('one spelling for each host', () => {
  test.each([
    ['EXAMPLE.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['１２７.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ])('%s is %s', (text, host) => expect(canonicalHost(text)).toBe(host));

  test.each([
    '',
    'a b',
    'a/b',
    'a@b',
    'a:1',
    'a%2eb',
    'a..b',
    '.a',
    '*.a',
    'a\r\nb',
    '256.1.1.1',
    '[::1%lo]',
    'x'.repeat(254),
    '{a}',
  ])('%j is no host', (text) => expect(canonicalHost(text)).toBeNull());

  test.each([
    'example.com',
    'example.com:0',
    'example.com:65536',
    'a:b:c',
    '::1:80',
    'a:80:80',
    ':80',
    '[::1]x:80',
  ])('%s is no host with a port', (text) => expect(parseAuthority(text)).toBeNull());
});

describe('patterns', () => {
  test.each([
    ['example.com', ['example.com'], ['a.example.com', 'xexample.com']],
    ['EXAMPLE.com.', ['example.com'], []],
    ['*.example.com', ['a.example.com', 'a.b.example.com'], ['example.com', 'xexample.com']],
    ['**.example.com', ['example.com', 'a.example.com', 'a.b.example.com'], ['xexample.com']],
    ['*', ['example.com', '127.0.0.1', '::1', 'localhost'], []],
    ['[*]', ['example.com', '::1'], []],
    ['*example.com', ['example.com', 'xexample.com', 'a.b.example.com'], ['example.org']],
    ['region*.v2.t.com', ['region1.v2.t.com', 'region.v2.t.com'], ['x.region1.v2.t.com']],
    ['a.*.com', ['a.example.com', 'a.b.example.com'], ['a.com']],
    ['*.*', ['a.b', '127.0.0.1'], ['localhost']],
    ['exampl?.com', ['example.com', 'examplx.com'], ['exampl.com']],
    ['::1', ['::1'], ['127.0.0.1']],
    ['[::1]', ['::1'], []],
    ['127.0.0.*', ['127.0.0.1'], ['127.0.1.1']],
    ['127.1', ['127.0.0.1'], []],
  ])('%s', (pattern, fitting, others) => {
    const patterns = new HostPatterns([pattern]);
    expect(fitting.filter((host) => !patterns.matches(at(host)))).toEqual([]);
    expect(others.filter((host) => patterns.matches(at(host)))).toEqual([]);
  });

  test.each(['example.com:443', '*:443', '*.example.com:443', '[::1]:443'])(
    '%s is for one port',
    (pattern) => {
      const host = pattern.includes('::')
        ? '::1'
        : pattern.startsWith('*.')
          ? 'a.example.com'
          : 'example.com';
      expect(new HostPatterns([pattern]).matches(at(host, 443))).toBe(true);
      expect(new HostPatterns([pattern]).matches(at(host, 80))).toBe(false);
    },
  );

  test.each([
    '',
    '**',
    'a.**.com',
    '**x.com',
    '*.',
    'http://a',
    'a/b',
    '10.0.0.0/8',
    '{a,b}.c',
    'e[xy]',
    'a b',
    'a\\b',
    'a:99999',
  ])('%j is refused', (pattern) =>
    expect(() => new HostPatterns([pattern])).toThrow('not a valid host pattern'),
  );

  test('a long host takes no time with many wildcards', () => {
    const patterns = new HostPatterns([`${'*a'.repeat(60)}.b`]);
    const begun = performance.now();
    expect(patterns.matches(at('a'.repeat(250)))).toBe(false);
    expect(performance.now() - begun).toBeLessThan(100);
  });
});

describe('public addresses', () => {
  test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::7f00:1',
    '::ffff:0:127.0.0.1',
    '1::1',
    '4000::1',
    'fe80::1%lo',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '2001:db8::1',
    'fd00::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'example.com',
  ])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('rules', () => {
  test('what is not allowed is unknown, and denying beats allowing, however narrow', () => {
    const rules = new RuleBook({ allow: ['*.example.com', 'bad.example.com'], deny: ['bad.*'] });
    expect(rules.judge(at('a.example.com'))).toBe('allowed');
    expect(rules.judge(at('bad.example.com'))).toBe('denied');
    expect(rules.judge(at('example.org'))).toBe('unknown');
  });

  test.each(['8.8.8.8', '::ffff:808:808', '64:ff9b::808:808'])(
    'an address that is denied stays so as %s',
    (host) => {
      const rules = new RuleBook({ allow: ['*'], deny: ['8.8.*'] });
      expect(rules.judge(at(host))).toBe('denied');
      expect(rules.admitsAddress(at('a.example'), host)).toBe(false);
      expect(rules.admitsAddress(at('a.example'), '::ffff:1.1.1.1')).toBe(true);
    },
  );

  test('nothing is allowed without a rule', () => {
    expect(new RuleBook({ allow: [], deny: [] }).judge(at('example.com'))).toBe('unknown');
  });

  test('a private address is out of reach unless it is named', () => {
    const rules = new RuleBook({ allow: ['*', '10.0.0.5', '127.0.0.1:8080'], deny: [] });
    const hosts = ['localhost', 'a.localhost', '169.254.169.254', '::1', '10.0.0.6', '127.0.0.1'];
    expect(hosts.filter((host) => rules.judge(at(host)) !== 'private')).toEqual([]);
    expect(rules.judge(at('10.0.0.5'))).toBe('allowed');
    expect(rules.judge(at('127.0.0.1', 8080))).toBe('allowed');
    expect(rules.admitsAddress(at('example.com'), '10.0.0.6')).toBe(false);
    expect(rules.admitsAddress(at('example.com'), '10.0.0.5')).toBe(true);
    expect(rules.admitsAddress(at('example.com'), '8.8.8.8')).toBe(true);
  });

  test('localhost, if named, leads to this machine', () => {
    const rules = new RuleBook({ allow: ['localhost'], deny: [] });
    expect(rules.judge(at('localhost'))).toBe('allowed');
    expect(rules.admitsAddress(at('localhost'), '127.0.0.1')).toBe(true);
    expect(rules.admitsAddress(at('example.com'), '127.0.0.1')).toBe(false);
  });

  test('a denied address is denied under every name', () => {
    const rules = new RuleBook({ allow: ['*'], deny: ['8.8.8.8'] });
    expect(rules.admitsAddress(at('dns.example'), '8.8.8.8')).toBe(false);
  });

  test('hosts under review are unknown, allowed or not', () => {
    const rules = new RuleBook({ allow: ['*.example.com'], deny: [], review: ['api.example.com'] });
    expect(rules.judge(at('api.example.com'))).toBe('unknown');
    expect(rules.judge(at('www.example.com'))).toBe('allowed');
  });
});
