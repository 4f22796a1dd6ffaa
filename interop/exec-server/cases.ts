import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExecBench, type ExecCase, uri } from './bench.js';

const special = (kind: string, access: string, more: object = {}) => ({
  path: { type: 'special', value: { kind, ...more } },
  access,
});
const place = (path: string, access: string) => ({ path: { type: 'path', path: uri(path) }, access });
const managed = (entries: readonly object[], network = 'restricted') => ({
  type: 'managed',
  file_system: { type: 'restricted', entries },
  network,
});
const readable = special('root', 'read');

/** Prints which of the run's folders can be written. */
const writable = ({ run }: ExecBench): string[] => {
  const folders = [run.workspace, run.outside, join(run.root, 'temporary')];
  return ['sh', '-c', 'for d; do touch $d/x 2>/dev/null && basename $d; done; true', 'sh', ...folders];
};

type Members = (bench: ExecBench) => object;

function sandboxed(
  name: string,
  members: Members,
  argv: (bench: ExecBench) => string[] = writable,
): ExecCase {
  return {
    name: `sandbox: ${name}`,
    play: async (bench) => {
      await mkdir(join(bench.run.root, 'temporary'), { recursive: true });
      const cwd = uri(bench.run.workspace);
      const base = {
        permissions: managed([readable, special('project_roots', 'write')]),
        cwd,
        workspaceRoots: [cwd],
        windowsSandboxLevel: 'disabled',
      };
      return await bench.start(argv(bench), { sandbox: { ...base, ...members(bench) } });
    },
  };
}

const sandboxCases: readonly ExecCase[] = [
  sandboxed('the workspace', () => ({})),
  sandboxed('a policy context', ({ run }) => ({ policyContext: { workspaceRoots: [uri(run.outside)] } })),
  sandboxed('an empty policy context', () => ({ policyContext: {} })),
  sandboxed('a policy context of another kind', () => ({ policyContext: 'x' })),
  sandboxed('an empty list of roots', () => ({ workspaceRoots: [] })),
  sandboxed('no roots given', () => ({ workspaceRoots: undefined })),
  ...['noOverride', 'escalatedSandboxWithRestrictions', 'bypassSandboxFirstAttempt', 'x', null].map(
    (override) => sandboxed(`override ${override}`, () => ({ sandboxOverride: override })),
  ),
  ...['file:///root', 'x', 3, null].map((home) => sandboxed(`home ${home}`, () => ({ userHomeDir: home }))),
  ...['reconcile', 'x', null].map((mode) =>
    sandboxed(`proxy settings ${mode}`, () => ({ windowsSandboxProxySettingsMode: mode })),
  ),
  sandboxed('temporary directories null', () => ({ temporaryDirectories: null })),
  sandboxed('temporary directories, named', ({ run }) => ({
    temporaryDirectories: [uri(join(run.root, 'temporary'))],
    permissions: managed([readable, special('tmpdir', 'write')]),
  })),
  sandboxed('no windowsSandboxLevel', () => ({ windowsSandboxLevel: undefined })),
  sandboxed('the older sandbox of Linux', () => ({ useLegacyLandlock: true })),
  ...['root', 'minimal', 'current_working_directory', 'tmpdir', 'slash_tmp', 'brand_new'].map((kind) =>
    sandboxed(`write to ${kind}`, () => ({ permissions: managed([readable, special(kind, 'write')]) })),
  ),
  sandboxed('an unknown place', () => ({
    permissions: managed([readable, special('unknown', 'write', { path: ':new' })]),
  })),
  sandboxed('an unknown place without a name', () => ({
    permissions: managed([readable, special('unknown', 'write')]),
  })),
  ...['none', 'deny'].map((access) =>
    sandboxed(
      `access ${access}`,
      ({ run }) => ({ permissions: managed([readable, place(run.outside, access)]) }),
      ({ run }) => ['ls', run.outside],
    ),
  ),
  sandboxed(
    'an approved escalation',
    ({ run }) => ({
      permissions: managed([special('root', 'write'), place(run.outside, 'deny')], 'enabled'),
      sandboxOverride: 'escalatedSandboxWithRestrictions',
    }),
    (bench) => [
      'sh',
      '-c',
      'ls /dev; ls "$2" >/dev/null 2>&1 || echo hidden; touch "$1/x" && echo written',
      ...writable(bench).slice(3),
    ],
  ),
  sandboxed(
    'only root writable',
    () => ({ permissions: managed([special('root', 'write')], 'enabled') }),
    () => ['sh', '-c', 'test $(ls /dev | wc -l) -eq 14 && echo own'],
  ),
];

const proxy = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: true,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  allowLocalBinding: false,
};

const open = { permissions: managed([special('root', 'read')]), windowsSandboxLevel: 'disabled' };
const network = (name: string, members: object): ExecCase => ({
  name: `network: ${name}`,
  play: (bench) => bench.start(['true'], members),
});

const networkCases: readonly ExecCase[] = [
  network('not enforced', { enforceManagedNetwork: false, managedNetwork: null, networkProxy: null }),
  network('a proxy that exists', { managedNetwork: { loopbackPorts: [9], allowLocalBinding: true } }),
  network('enforced without a proxy', { enforceManagedNetwork: true }),
  network('enforced without a proxy, under a policy', { enforceManagedNetwork: true, sandbox: open }),
  network('a proxy to start, not enforced', { networkProxy: { proxy } }),
  network('a proxy to start', { enforceManagedNetwork: true, networkProxy: { proxy }, sandbox: open }),
  network('a limited proxy', {
    enforceManagedNetwork: true,
    networkProxy: { proxy: { ...proxy, mode: 'limited' } },
    sandbox: open,
  }),
  network('masked credentials', {
    enforceManagedNetwork: true,
    networkProxy: { proxy: { ...proxy, credentialMasking: true } },
    sandbox: open,
  }),
  network('all hosts denied', { networkProxy: { proxy: { ...proxy, domains: { '*': 'deny' } } } }),
  network('a range of addresses', {
    networkProxy: { proxy: { ...proxy, domains: { '10.0.0.0/8': 'allow' } } },
  }),
  network('a URL', { networkProxy: { proxy: { ...proxy, domains: { 'http://a.example': 'allow' } } } }),
  network('enforced: null', { enforceManagedNetwork: null }),
  network('a port too large', { managedNetwork: { loopbackPorts: [65_536] } }),
  network('a proxy that is off', { networkProxy: { proxy: { ...proxy, enabled: false } } }),
  network('a proxy without members', { networkProxy: {} }),
  network('domains in a list', { networkProxy: { proxy: { ...proxy, domains: [] } } }),
  network('a relative socket', { networkProxy: { proxy: { ...proxy, unixSockets: { x: 'allow' } } } }),
  network('no time to decide', { networkProxy: { proxy, policyDecisionTimeoutMs: 0 } }),
];

const PROFILE =
  'export SHOWN=yes; KEPT=yes; f() { echo in f; }; alias say=echo; shopt -s expand_aliases; umask 027\n';

function snapshot(name: string, script: string, more: object = {}): ExecCase {
  return {
    name: `snapshot: ${name}`,
    play: async (bench) => {
      const shellSnapshot = { scopeId: name, shell: { name: 'bash', path: '/bin/bash' } };
      await bench.plant('server-home/.bash_profile', PROFILE);
      const command = ['/bin/bash', '-lc', script];
      return [
        await bench.start(command, { shellSnapshot, ...more }),
        await bench.start(command, { shellSnapshot, ...more }),
      ];
    },
  };
}

const snapshotCases: readonly ExecCase[] = [
  snapshot('exported variables', 'echo $SHOWN'),
  snapshot('functions and aliases', 'f; say alias'),
  snapshot('variables that are not exported', 'echo ${KEPT-gone}'),
  snapshot('umask', 'umask'),
  snapshot('line numbers', 'echo $LINENO'),
  snapshot('not a login shell', 'shopt -q login_shell || echo no'),
  snapshot('no scope', 'true', {
    shellSnapshot: { scopeId: '', shell: { name: 'bash', path: '/bin/bash' } },
  }),
  snapshot('another shell than the one that runs', 'true', {
    shellSnapshot: { scopeId: 'x', shell: { name: 'fish', path: '/bin/fish' } },
  }),
  snapshot('a shell of another kind', 'true', {
    shellSnapshot: { scopeId: 'x', shell: { name: 'fish', path: '/bin/bash' } },
  }),
  {
    name: 'snapshot: zsh',
    play: async (bench) => {
      await bench.plant('server-home/.zprofile', 'echo ran\n');
      const shellSnapshot = { scopeId: 'z', shell: { name: 'zsh', path: '/usr/bin/zsh' } };
      return await bench.start(['/usr/bin/zsh', '-lc', 'true'], { shellSnapshot });
    },
  },
];

const capabilityCases: readonly ExecCase[] = [
  'networkProxyLaunch',
  'networkProxyReviewDomains',
  'credentialMasking',
  'credentialMaskingCustomProviders',
  'capabilityDiscoverySandbox',
  'fsWatchMissing',
  'capabilityDiscoveryV2',
  'environmentConfigRead',
  'httpHeaderEnvVars',
  'sandboxedFileStreaming',
  'fileWriteStreaming',
  'shellSnapshotV2',
  'windowsMxc',
  'linuxRootWritePreservesDevices',
  'linuxApprovedRootWritePreservesRestrictions',
].map((name) => ({
  name: `capability: ${name}`,
  play: async (bench) => {
    const { capabilities } = (await bench.client.call('environment/info')) as { capabilities: object };
    return { announced: Reflect.get(capabilities, name) as unknown };
  },
}));

const discover = (bench: ExecBench, entries: readonly object[]) => ({
  permissions: managed(entries),
  cwd: uri(bench.run.workspace),
  windowsSandboxLevel: 'disabled',
});

const discoveryCases: readonly ExecCase[] = [
  {
    name: 'discovery: skills and plugins of the user',
    play: async (bench) => {
      const cwd = uri(bench.run.workspace);
      return [
        await bench.ask('capabilities/discoverV2', { cwd }),
        await bench.ask('capabilities/discoverV2', {
          cwd,
          sandbox: discover(bench, [special('minimal', 'read')]),
        }),
        await bench.ask('capabilities/discoverV2', {}),
        await bench.ask('capabilities/discoverV2', { cwd: 'x' }),
      ];
    },
  },
  {
    name: 'discovery: a directory that may not be seen',
    play: async (bench) => {
      await bench.plant('outside/plug/.codex-plugin/plugin.json', '{}');
      const path = join(bench.run.outside, 'plug');
      const sandbox = discover(bench, [readable, place(join(path, '.codex-plugin'), 'deny')]);
      return await bench.ask('capabilityRoots/discoverV1', {
        roots: [{ id: 'a', path: uri(path), sandbox }],
      });
    },
  },
];

export const execCases: readonly ExecCase[] = [
  ...capabilityCases,
  ...networkCases,
  ...sandboxCases,
  ...snapshotCases,
  ...discoveryCases,
];
