import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

test('files that cannot be used are named, with the reason', { timeout: 60_000 }, async () => {
  using folder = new TestFolder();
  const [none, directory, text] = [folder.file('none'), folder.file('directory'), folder.file('text')];
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(text, 'neither = a certificate', { mode: 0o600 });
  const cases: [string[], number, string][] = [
    [
      ['serve', '--audit', `${none}/a`],
      2,
      `Cannot write the audit file ${none}/a: its directory does not exist.`,
    ],
    [['serve', '--audit', directory], 2, `Cannot write the audit file ${directory}: it is a directory.`],
    [['serve', '--token-file', directory], 2, `Cannot read ${directory}: it is a directory.`],
    [['serve', '--tls-cert', text, '--tls-key', none], 2, `Cannot read ${none}: it does not exist.`],
    [
      ['serve', '--tls-cert', text, '--tls-key', text],
      2,
      `${text} is not a certificate, or ${text} not its private key. Both must be in PEM format.`,
    ],
    [
      ['serve', '--spool', text],
      1,
      'The spool directory is a link or a file. Choose another one with --spool.',
    ],
    [['gateway', '--insecure', '--clients', none], 2, `Cannot read ${none}: it does not exist.`],
    [['gateway', '--registry', directory], 2, `Cannot read ${directory}: it is a directory.`],
    [['gateway', '--registry', text], 2, `Cannot read ${text}: it is not valid TOML.`],
    [['token', 'new', `${text}/a`], 2, `Cannot write ${text}/a: a part of its path is no directory.`],
    [['play', directory], 1, `Cannot read ${directory}: it is a directory.`],
  ];
  const results = await Promise.all(cases.map(([line]) => execwire(line)));
  expect(results).toEqual(
    cases.map(([, code, sentence]) => ({ code, stdout: '', stderr: `execwire: ${sentence}\n` })),
  );
});

test('waiting for what cannot be found does not end like a program', { timeout: 60_000 }, async () => {
  await using server = await ServerProcess.start();
  const results = await Promise.all([
    execwire(['wait', 'nobody']),
    execwire(['wait', '-e', 'ws://127.0.0.1:1', 'nobody']),
    execwire(['wait', '-e', server.url, 'nobody']),
    execwire(['job', 'wait', 'nobody'], { env: { EXECWIRE_FLEET: 'nats://127.0.0.1:1' } }),
  ]);
  for (const { code, stderr } of results)
    expect([code, stderr]).toEqual([125, expect.stringMatching(/^execwire: [A-Z][^\n]+\n$/)]);
});
