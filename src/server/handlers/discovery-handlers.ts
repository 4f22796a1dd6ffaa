import type { FileSystem } from '../../contract/index.js';
import {
  type CapabilityFile,
  type ConfigLayer,
  type DiscoveredRoot,
  discoverRoot,
  discoverUserCapabilities,
  readEnvironmentConfig,
  type Skill,
} from '../../host/discovery/index.js';
import { ExecError, fileUri } from '../../protocol/index.js';
import type { Handlers } from './connection-context.js';
import { wirePath } from './wire-path.js';

/** The same as Codex's: each root may contain thousands of directories. */
const MAX_ROOTS = 128;

/** Methods that report how this machine is set up. */
export function discoveryHandlers(context: {
  files: FileSystem;
}): Handlers<'environmentConfig/read' | 'capabilityRoots/discoverV1' | 'capabilities/discoverV2'> {
  const { files } = context;
  return {
    'environmentConfig/read': async (params) => {
      wirePath(params.cwd);
      const wanted = { config: params.configPaths, requirements: params.requirementsPaths };
      const found = await readEnvironmentConfig(files, wanted);
      return {
        userHomeDir: fileUri(found.userHomeDir),
        codexHomeDir: fileUri(found.codexHomeDir),
        hostname: found.hostname,
        config: wireLayers(found.config),
        requirements: wireLayers(found.requirements),
      };
    },
    'capabilityRoots/discoverV1': async (params) => {
      if (params.roots.length > MAX_ROOTS)
        throw new ExecError('invalidLimit', `capability root discovery accepts at most ${MAX_ROOTS} roots`);
      const wanted = params.roots.map((root) => ({ ...root, path: wirePath(root.path) }));
      const roots = [];
      // One at a time: together they could exceed the size of a message.
      for (const { id, path, sandbox } of wanted) {
        const found = await discoverRoot(files, { path, sandbox: sandbox ?? null });
        roots.push({
          id,
          path: fileUri(path),
          plugin: found.plugin && wirePlugin(found.plugin),
          skills: found.skills.map(({ instructions, metadata }) => ({
            instructions: wireFile(instructions),
            metadata: wireFileOrNull(metadata),
          })),
          namespaceManifests: found.namespaceManifests.map(wireFile),
          warnings: [...found.warnings],
          error: found.error,
        });
      }
      return { roots };
    },
    'capabilities/discoverV2': async ({ cwd, sandbox }) => {
      wirePath(cwd);
      const { plugins, skills, warnings } = await discoverUserCapabilities(files, {
        sandbox: sandbox ?? null,
      });
      return {
        plugins: plugins.map(({ root, skills: own, ...plugin }) => ({
          ...plugin,
          remotePluginId: null,
          root: fileUri(root),
          files: wirePlugin(plugin.files),
          skills: own.map(wireSkill),
        })),
        skills: skills.map(({ discoveryRoot, ...skill }) => ({
          ...wireSkill(skill),
          discoveryRoot: { ...discoveryRoot, path: fileUri(discoveryRoot.path) },
        })),
        warnings: [...warnings],
      };
    },
  };
}

function wirePlugin({ manifest, mcpConfig, appsConfig }: NonNullable<DiscoveredRoot['plugin']>) {
  return {
    manifest: wireFile(manifest),
    mcpConfig: wireFileOrNull(mcpConfig),
    appsConfig: wireFileOrNull(appsConfig),
  };
}

function wireSkill({ path, dependencies, policy, ...skill }: Skill) {
  return {
    ...skill,
    path: fileUri(path),
    dependencies: dependencies && { tools: [...dependencies.tools] },
    policy: policy && { ...policy, products: [...policy.products] },
  };
}

/** Layers from elsewhere would take precedence over ours; none of ours is weaker. */
function wireLayers(layers: readonly ConfigLayer[]) {
  const shown = layers.map((layer) => ({ ...layer, baseDir: fileUri(layer.baseDir) }));
  return { layers: shown, cloudInsertionIndex: 0 };
}

function wireFile(file: CapabilityFile): CapabilityFile {
  return { ...file, path: fileUri(file.path) };
}

function wireFileOrNull(file: CapabilityFile | null): CapabilityFile | null {
  return file && wireFile(file);
}
