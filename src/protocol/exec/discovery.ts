import { z } from 'zod';
import { request } from '../method.js';
import { FileUri } from './common.js';
import { Sandbox } from './sandbox.js';

const KeyPaths = z
  .array(z.array(z.string()).min(1))
  .meta({ description: 'Each a list of keys from the top of the file.' });

const ConfigLayers = z.object({
  layers: z
    .array(
      z.object({
        source: z.string().meta({ description: 'Where it is from, for people.' }),
        baseDir: FileUri.nullable(),
        toml: z.string().meta({ description: 'What the paths select, as TOML.' }),
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
});

const CapabilityFile = z.object({ path: FileUri, contents: z.string() });

export const capabilityRootsDiscoverV1 = request({
  doc: 'Reads plugin manifests and skills below directories. What is wrong with one root is said in its own entry.',
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
        plugin: z
          .object({
            manifest: CapabilityFile,
            mcpConfig: CapabilityFile.nullable(),
            appsConfig: CapabilityFile.nullable(),
          })
          .nullable(),
        skills: z.array(z.object({ instructions: CapabilityFile, metadata: CapabilityFile.nullable() })),
        namespaceManifests: z
          .array(CapabilityFile)
          .meta({ description: 'Every plugin manifest at or below the root.' }),
        warnings: z.array(z.string()),
        error: z.string().nullable(),
      }),
    ),
  }),
});
