import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { asIdentity, ConfinedServer, withoutSystemPrograms } from '../harness/confined-server.js';
import { bin } from '../../testkit/launch.mjs';
import { identities } from '../host/sandbox/harness.js';

interface Info {
  capabilities: Record<string, boolean>;
  sandbox: { level: string; hint?: string; maxProcesses?: boolean };
}

/** What a new connection is told at once, and what it is told when it asks. */
async function told({ client }: ConfinedServer): Promise<{ atOnce: Info; asked: Info }> {
  const { result } = await client.until(() =>
    client.arrivals.find(
      (each): each is { result: { environmentInfo: Info } } & typeof each =>
        'result' in each && each.result !== undefined && 'environmentInfo' in each.result,
    ),
  );
  const asked = (await client.call('environment/info')) as unknown as Info;
  return { atOnce: result.environmentInfo, asked };
}

describe.each(identities)('what a server says about its sandbox as $name', (identity) => {
  test('it announces what it was seen to enforce', async () => {
    await using host = await ConfinedServer.start(identity);
    const { atOnce, asked } = await told(host);
    for (const { capabilities } of [atOnce, asked]) expect(capabilities.sandboxedFileStreaming).toBe(true);
    expect(asked.sandbox).toMatchObject({ level: 'full', maxProcesses: true });
    const report = doctor(identity);
    expect(report).toMatchObject({ verdict: 'ok', hint: expect.stringContaining('process limits') });
  });

  test('it announces nothing without bubblewrap, and runs nothing bare', async () => {
    await using host = await ConfinedServer.start(identity, { wrapper: withoutSystemPrograms('bwrap') });
    const { atOnce, asked } = await told(host);
    for (const { capabilities } of [atOnce, asked])
      expect(capabilities).not.toHaveProperty('sandboxedFileStreaming');
    expect(asked.sandbox).toEqual({ level: 'none', hint: expect.stringContaining('bubblewrap') });
    const path = pathToFileURL(host.place.workspace).href;
    const sandbox = host.sandbox();
    const refused = await Promise.all([
      host.client.ask('process/start', host.params('p', ['/bin/true'])),
      host.client.ask('fs/readDirectory', { path, sandbox }),
      host.client.ask('fs/open', { handleId: 'h', path: `${path}/new`, mode: 'replace', sandbox }),
    ]);
    const failure = { code: 'sandboxUnavailable', reason: 'bubblewrapMissing', hint: expect.any(String) };
    expect(refused.map(({ error }) => error?.data)).toEqual([failure, failure, failure]);
    expect(doctor(identity, withoutSystemPrograms('bwrap'))).toMatchObject({ verdict: 'absent' });
  });
});

function doctor(identity: (typeof identities)[number], wrapper: string[] = []): Record<string, unknown> {
  const env = { ...process.env, HOME: '/nowhere' };
  const [program, ...args]: string[] = [
    ...wrapper,
    ...asIdentity(identity),
    process.execPath,
    bin,
    'doctor',
    '--json',
  ];
  // Its exit code is about the whole machine.
  const { stdout } = spawnSync(program ?? '', args, { env, encoding: 'utf8', cwd: '/' });
  const rows = JSON.parse(stdout) as Record<string, unknown>[];
  return rows.find(({ layer }) => layer === 'sandbox') ?? {};
}
