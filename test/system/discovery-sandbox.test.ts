import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, special } from '../harness/confined-server.js';
import { identities, Place } from '../host/sandbox/harness.js';

const uri = (path: string): string => pathToFileURL(path).href;

function plant(base: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(base, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const skill = (name: string): string => `---\nname: ${name}\ndescription: D\n---\n`;
const readRoot = special('root', 'read');
const deny = (path: string) => ({ path: { type: 'path', path: uri(path) }, access: 'deny' });

/** The host with a home that has skills, and what a policy made of these entries is. */
async function open(identity: (typeof identities)[number]) {
  const place = new Place(identity);
  const env = { CODEX_HOME: join(place.base, '.codex') };
  const host = await ConfinedServer.start(identity, { place, env });
  const permissions = (entries: readonly object[]) => ({
    type: 'managed',
    file_system: { type: 'restricted', entries },
    network: 'restricted',
  });
  const sandbox = (...entries: object[]) => host.sandbox({ permissions: permissions(entries) });
  return { host, base: place.base, sandbox };
}

describe.each(identities)('discovery under a policy, as $name', (identity) => {
  test('is announced, and each root is looked at as its own policy allows', async () => {
    const { host, base, sandbox } = await open(identity);
    await using _host = host;
    const { capabilities } = await host.client.call('environment/info');
    expect(capabilities).toMatchObject({ capabilityDiscoverySandbox: true, capabilityDiscoveryV2: true });
    plant(base, { 'plug/.codex-plugin/plugin.json': '{}', 'plug/s/SKILL.md': 'text' });
    const path = uri(join(base, 'plug'));
    const { roots } = await host.client.call('capabilityRoots/discoverV1', {
      roots: [
        { id: 'open', path, sandbox: null },
        { id: 'visible', path, sandbox: sandbox(readRoot) },
        { id: 'hidden', path, sandbox: sandbox(special('minimal', 'read')) },
        { id: 'in part', path, sandbox: sandbox(readRoot, deny(join(base, 'plug/s'))) },
      ],
    });
    const found = { plugin: expect.anything(), skills: [expect.anything()], error: null, warnings: [] };
    expect(roots).toEqual([
      expect.objectContaining(found),
      expect.objectContaining(found),
      expect.objectContaining({ plugin: null, skills: [], error: expect.stringContaining('No such file') }),
      expect.objectContaining({ plugin: expect.anything(), skills: [], warnings: [expect.any(String)] }),
    ]);
  });

  test('the user’s own skills are those the policy shows', async () => {
    const { host, base, sandbox } = await open(identity);
    await using _host = host;
    plant(base, { '.codex/skills/a/SKILL.md': skill('a'), '.agents/skills/b/SKILL.md': skill('b') });
    const names = async (policy: object | null): Promise<unknown> => {
      const params = { cwd: host.cwd, sandbox: policy };
      const { skills, warnings } = await host.client.call('capabilities/discoverV2', params);
      const found = (skills as { name: string }[]).map(({ name }) => name);
      return { found, warnings: (warnings as string[]).length };
    };
    expect(await names(null)).toEqual({ found: ['a', 'b'], warnings: 0 });
    expect(await names(sandbox(readRoot))).toEqual({ found: ['a', 'b'], warnings: 0 });
    expect(await names(sandbox(special('minimal', 'read')))).toEqual({ found: [], warnings: 0 });
    const inPart = sandbox(readRoot, deny(join(base, '.codex/skills')));
    expect(await names(inPart)).toEqual({ found: ['b'], warnings: 1 });
  });
});
