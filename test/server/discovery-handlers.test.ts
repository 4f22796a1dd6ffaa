import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { discoveryHandlers } from '../../src/server/handlers/discovery-handlers.js';
import { createCaller } from './call-handler.js';

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

let directory: string;
let uri: string;
const { CODEX_HOME: codexHome, HOME: home } = process.env;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'execwire-discovery-'));
  uri = `file://${directory}`;
  process.env['CODEX_HOME'] = directory;
  process.env['HOME'] = join(directory, 'home');
});
afterAll(() => {
  for (const [name, value] of Object.entries({ CODEX_HOME: codexHome, HOME: home })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(directory, { recursive: true, force: true });
});

function plant(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
}

const call = createCaller(discoveryHandlers({ files: new LocalFileSystem() }));

describe('environmentConfig/read', () => {
  const read = (configPaths: string[][], requirementsPaths: string[][] = []) =>
    call('environmentConfig/read', { cwd: 'file:///', configPaths, requirementsPaths });

  test('selects the wanted keys of the user’s configuration', async () => {
    plant({
      'config.toml': 'model = "x"\n[mcp_servers.foo]\ncommand = "c"\n[mcp_servers.bar]\ncommand = "d"\n',
    });
    const layer = (toml: string) => ({ source: `user (${directory}/config.toml)`, baseDir: uri, toml });
    const answer = await read([['mcp_servers', 'foo']], [['mcp_servers']]);
    expect(answer).toMatchObject({
      codexHomeDir: uri,
      hostname: expect.any(String),
      config: { layers: [layer('[mcp_servers.foo]\ncommand = "c"\n')], cloudInsertionIndex: 0 },
      requirements: { layers: [], cloudInsertionIndex: 0 },
    });
    expect(await read([['model'], ['absent'], ['model', 'below']])).toMatchObject({
      config: { layers: [layer('model = "x"\n')] },
    });
    expect(await read([['absent'], ['__proto__'], ['constructor', 'name']])).toMatchObject({
      config: { layers: [] },
    });
  });

  test('asks for something, by keys, in a usable place', async () => {
    expect(await read([], [])).toBe(INVALID_PARAMS);
    expect(await read([[]])).toBe(INVALID_PARAMS);
    expect(
      await call('environmentConfig/read', { cwd: 'x', configPaths: [['a']], requirementsPaths: [] }),
    ).toBe(INVALID_PARAMS);
  });
});

describe('capabilityRoots/discoverV1', () => {
  test('servers in the manifest itself need no file', async () => {
    plant({ 'inline/.codex-plugin/plugin.json': '{"mcpServers":{"m":{}}}', 'inline/.mcp.json': '{}' });
    const [root] = await discover('inline');
    expect(root?.plugin).toMatchObject({ mcpConfig: null });
  });

  const discover = async (...names: string[]) => {
    const roots = names.map((name) => ({ id: name, path: `${uri}/${name}` }));
    const answer = await call('capabilityRoots/discoverV1', { roots });
    return typeof answer === 'number' ? [] : answer.roots;
  };
  const file = (path: string, contents: string) => ({ path: `${uri}/${path}`, contents });
  const nothing = { plugin: null, skills: [], namespaceManifests: [], warnings: [], error: null };

  test('reads a plugin with what its manifest names, and skills with their metadata', async () => {
    const manifest = JSON.stringify({ mcpServers: './m.json', apps: './apps.json' });
    plant({
      'one/.codex-plugin/plugin.json': manifest,
      'one/.claude-plugin/plugin.json': '{}',
      'one/m.json': '{"m":1}',
      'one/apps.json': '{"a":1}',
      'one/skills/s/SKILL.md': '# s',
      'one/skills/s/agents/openai.yaml': 'y: 1',
    });
    const own = file('one/.codex-plugin/plugin.json', manifest);
    expect(await discover('one')).toEqual([
      {
        ...nothing,
        id: 'one',
        path: `${uri}/one`,
        plugin: {
          manifest: own,
          mcpConfig: file('one/m.json', '{"m":1}'),
          appsConfig: file('one/apps.json', '{"a":1}'),
        },
        skills: [
          {
            instructions: file('one/skills/s/SKILL.md', '# s'),
            metadata: file('one/skills/s/agents/openai.yaml', 'y: 1'),
          },
        ],
        namespaceManifests: [own],
      },
    ]);
  });

  test('falls back to the usual names, and finds nested and hidden ones in order', async () => {
    plant({
      'two/.claude-plugin/plugin.json': '{broken',
      'two/.mcp.json': '{}',
      'two/.app.json': '{}',
      'two/.hidden/SKILL.md': 'h',
      'two/SKILL.md': 'top',
      'two/x/.codex-plugin/plugin.json': '{"name":"nested"}',
      'two/x/s/SKILL.md': 'nested',
    });
    const [root] = await discover('two');
    expect(root?.plugin).toEqual({
      manifest: file('two/.claude-plugin/plugin.json', '{broken'),
      mcpConfig: file('two/.mcp.json', '{}'),
      appsConfig: file('two/.app.json', '{}'),
    });
    expect(root?.skills.map((skill) => skill.instructions.contents)).toEqual(['h', 'top', 'nested']);
    expect(root?.namespaceManifests.map((manifest) => manifest.contents)).toEqual([
      '{broken',
      '{"name":"nested"}',
    ]);
  });

  test('warns about files it cannot use and references that leave the plugin', async () => {
    plant({
      'three/.codex-plugin/plugin.json': JSON.stringify({ mcpServers: '../esc.json', apps: './../esc.json' }),
      'three/.mcp.json': '{"d":1}',
      'three/b/SKILL.md': Buffer.of(0xff, 0xfe),
      'three/c/SKILL.md': 'x'.repeat(1_048_577),
      'three/d/SKILL.md': 'y'.repeat(1_048_576),
      'esc.json': '{"outside":1}',
    });
    const [root] = await discover('three');
    expect(root?.skills.map((skill) => skill.instructions.contents.length)).toEqual([1_048_576]);
    expect(root?.plugin).toMatchObject({ mcpConfig: file('three/.mcp.json', '{"d":1}'), appsConfig: null });
    expect(root?.warnings).toEqual([
      `capability file ${uri}/three/b/SKILL.md is not UTF-8`,
      `capability file ${uri}/three/c/SKILL.md exceeds the 1048576-byte limit`,
      `ignoring mcpServers in ${uri}/three/.codex-plugin/plugin.json: path must start with \`./\``,
      `ignoring apps in ${uri}/three/.codex-plugin/plugin.json: path must stay within the plugin`,
    ]);
  });

  test('says what is wrong with a root in its own place', async () => {
    plant({ plain: '', 'empty/x': '' });
    const failed = `failed to inspect capability root ${uri}/none: No such file or directory (os error 2)`;
    expect(await discover('plain', 'none', 'empty')).toEqual([
      {
        ...nothing,
        id: 'plain',
        path: `${uri}/plain`,
        error: `capability root ${uri}/plain is not a directory`,
      },
      { ...nothing, id: 'none', path: `${uri}/none`, error: failed },
      { ...nothing, id: 'empty', path: `${uri}/empty` },
    ]);
  });

  test('takes at most 128 roots, all with proper URIs', async () => {
    const many = Array.from({ length: 129 }, (_, index) => ({ id: String(index), path: `${uri}/none` }));
    expect(await call('capabilityRoots/discoverV1', { roots: many })).toBe(INVALID_REQUEST);
    expect(await call('capabilityRoots/discoverV1', { roots: [{ id: 'a', path: 'x' }] })).toBe(
      INVALID_PARAMS,
    );
    expect(await call('capabilityRoots/discoverV1', { roots: [] })).toEqual({ roots: [] });
  });
});

describe('capabilities/discoverV2', () => {
  const discover = async () => {
    const answer = await call('capabilities/discoverV2', { cwd: 'file:///no/such/place' });
    if (typeof answer === 'number') throw new Error(`failed: ${answer}`);
    return answer;
  };
  const skill = (name: string, description = 'D') =>
    `---\nname: ${name}\ndescription: ${description}\n---\nbody`;
  const incomplete = 'some capability metadata could not be loaded; discovery may be incomplete';

  test('nothing installed is no error; a place to look from is needed', async () => {
    expect(await discover()).toEqual({ plugins: [], skills: [], warnings: [] });
    expect(await call('capabilities/discoverV2', { cwd: 'x' })).toBe(INVALID_PARAMS);
  });

  test('tells the user’s skills, with what they need and when they may be used', async () => {
    plant({
      'skills/a/SKILL.md': skill('first'),
      'skills/b/SKILL.md':
        '---\ndescription: |\n  two\n  lines\nmetadata:\n  short-description: short\n---\n',
      'skills/b/agents/openai.yaml': [
        'dependencies:',
        '  tools:',
        '    - {type: mcp, value: " srv ", transport: stdio, command: run}',
        '    - {type: mcp}',
        'policy: {allow_implicit_invocation: false, products: [CODEX]}',
      ].join('\n'),
      'skills/c/SKILL.md': skill('colon', 'Use when: asked'),
      'home/.agents/skills/a/SKILL.md': skill('first', 'elsewhere'),
    });
    const root = (id: string, path: string) => ({ discoveryRoot: { id, path: `${uri}/${path}` } });
    const own = root('codex-home-skills', 'skills');
    const plain = { shortDescription: null, dependencies: null, policy: null };
    const tool = { type: 'mcp', value: 'srv', transport: 'stdio', command: 'run', url: null };
    expect(await discover()).toEqual({
      plugins: [],
      skills: [
        { name: 'first', description: 'D', path: `${uri}/skills/a/SKILL.md`, ...plain, ...own },
        {
          name: 'b',
          description: 'two lines',
          shortDescription: 'short',
          path: `${uri}/skills/b/SKILL.md`,
          dependencies: { tools: [{ ...tool, description: null, oauthCallbackPort: null }] },
          policy: { allowImplicitInvocation: false, products: ['codex'] },
          ...own,
        },
        { name: 'colon', description: 'Use when: asked', path: `${uri}/skills/c/SKILL.md`, ...plain, ...own },
        {
          name: 'first',
          description: 'elsewhere',
          path: `${uri}/home/.agents/skills/a/SKILL.md`,
          ...plain,
          ...root('user-agent-skills', 'home/.agents/skills'),
        },
      ],
      warnings: [],
    });
  });

  test('leaves out what cannot be used, and says so once for each root', async () => {
    const before = (await discover()).skills.map(({ name }) => name);
    plant({
      'skills/x1/SKILL.md': 'no front matter',
      'skills/x2/SKILL.md': '---\nname: x2\n---\n',
      'skills/x3/SKILL.md': skill('n'.repeat(65)),
      'skills/x4/SKILL.md': '---\nname: [\n---\n',
      'skills/y/SKILL.md': skill('y'),
      'skills/y/agents/openai.yaml': 'policy: [',
    });
    const { skills, warnings } = await discover();
    expect(skills.map(({ name }) => name).sort()).toEqual([...before, 'y'].sort());
    expect(skills.find(({ name }) => name === 'y')).toMatchObject({ policy: null });
    expect(warnings).toEqual([incomplete]);
  });

  test('tells installed plugins, the newest version of each', async () => {
    const cache = 'plugins/cache/market';
    const manifest = JSON.stringify({
      name: 'plug',
      interface: { displayName: 'Plug!' },
      mcpServers: { m: {} },
    });
    plant({
      [`${cache}/plug/1.9.0/.codex-plugin/plugin.json`]: '{}',
      [`${cache}/plug/1.10.0/.codex-plugin/plugin.json`]: manifest,
      [`${cache}/plug/1.10.0/skills/s/SKILL.md`]: skill('s'),
      [`${cache}/dev/2.0.0/.codex-plugin/plugin.json`]: '{}',
      [`${cache}/dev/local/.claude-plugin/plugin.json`]: '{}',
      [`${cache}/none/1.0.0/SKILL.md`]: skill('s'),
      [`${cache}/broken/1.0.0/.codex-plugin/plugin.json`]: '{',
      'plugins/cache/file': 'x',
    });
    const { plugins } = await discover();
    const root = `${uri}/${cache}/plug/1.10.0`;
    const file = { path: `${root}/.codex-plugin/plugin.json`, contents: manifest };
    expect(plugins).toEqual([
      expect.objectContaining({ id: 'dev@market', version: 'local', displayName: 'local', skills: [] }),
      {
        id: 'plug@market',
        displayName: 'Plug!',
        remotePluginId: null,
        version: '1.10.0',
        root,
        files: { manifest: file, mcpConfig: file, appsConfig: null },
        skills: [
          {
            name: 'plug:s',
            description: 'D',
            shortDescription: null,
            path: `${root}/skills/s/SKILL.md`,
            dependencies: null,
            policy: null,
          },
        ],
      },
    ]);
  });
});
