import { z } from 'zod';
import { request } from '../method.js';
import { FileUri } from './common.js';
import { Sandbox } from './sandbox.js';

const KeyPaths = z
  .array(z.array(z.string()).min(1))
  .meta({ description: 'Each is a list of keys from the root of the file.' });

const ConfigLayers = z.object({
  layers: z
    .array(
      z.object({
        source: z.string().meta({ description: 'Its origin, for display.' }),
        baseDir: FileUri.nullable(),
        toml: z.string().meta({ description: 'The selected parts, as TOML.' }),
      }),
    )
    .meta({ description: 'Weakest first.' }),
  cloudInsertionIndex: z.number().int(),
});

export const environmentConfigRead = request({
  doc: 'Selected parts of the machine’s own configuration.',
  params: z
    .object({ cwd: FileUri, configPaths: KeyPaths, requirementsPaths: KeyPaths })
    .refine((params) => params.configPaths.length + params.requirementsPaths.length > 0, {
      message: 'at least one config or requirements path is required',
    }),
  result: z.object({
    userHomeDir: FileUri.nullable(),
    codexHomeDir: FileUri,
    hostname: z.string().nullable(),
    config: ConfigLayers,
    requirements: ConfigLayers,
  }),
  answerSize: 'list',
});

const CapabilityFile = z.object({ path: FileUri, contents: z.string() });

const SkillTool = z.object({
  type: z.string(),
  value: z.string(),
  description: z.string().nullable(),
  transport: z.string().nullable(),
  command: z.string().nullable(),
  url: z.string().nullable(),
  oauthCallbackPort: z.number().int().nullable(),
});

const Skill = z.object({
  name: z.string().meta({ description: 'A plugin’s skill is prefixed with the plugin’s name and a colon.' }),
  description: z.string(),
  shortDescription: z.string().nullable(),
  path: FileUri,
  dependencies: z.object({ tools: z.array(SkillTool) }).nullable(),
  policy: z
    .object({ allowImplicitInvocation: z.boolean().nullable(), products: z.array(z.string()) })
    .nullable(),
});

const PluginFiles = z.object({
  manifest: CapabilityFile,
  mcpConfig: CapabilityFile.nullable(),
  appsConfig: CapabilityFile.nullable(),
});

export const capabilitiesDiscoverV2 = request({
  doc: 'The plugins and skills of the user the server runs as. Unusable ones are omitted with a warning.',
  params: z.object({
    cwd: FileUri.meta({ description: 'Need not exist.' }),
    sandbox: Sandbox.nullish().meta({ description: 'What may be read.' }),
  }),
  result: z.object({
    plugins: z.array(
      z.object({
        id: z.string().meta({ description: 'Name and origin, as in `name@market`.' }),
        displayName: z.string(),
        remotePluginId: z.string().nullable(),
        version: z.string(),
        root: FileUri,
        files: PluginFiles,
        skills: z.array(Skill),
      }),
    ),
    skills: z.array(Skill.extend({ discoveryRoot: z.object({ id: z.string(), path: FileUri }) })),
    warnings: z.array(z.string()),
  }),
});

export const capabilityRootsDiscoverV1 = request({
  doc: 'Reads plugin manifests and skills below directories. Problems with a root are reported in its own entry.',
  params: z.object({
    roots: z
      .array(z.object({ id: z.string(), path: FileUri, sandbox: Sandbox.nullish() }))
      .meta({ description: 'At most 128.' }),
  }),
  result: z.object({
    roots: z.array(
      z.object({
        id: z.string(),
        path: FileUri,
        plugin: PluginFiles.nullable(),
        skills: z.array(z.object({ instructions: CapabilityFile, metadata: CapabilityFile.nullable() })),
        namespaceManifests: z
          .array(CapabilityFile)
          .meta({ description: 'Every plugin manifest at or below the root.' }),
        warnings: z.array(z.string()),
        error: z.string().nullable(),
      }),
    ),
  }),
  answerSize: 'large',
});
