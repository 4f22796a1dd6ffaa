import { z } from 'zod';
import { request } from '../method.js';
import { Chunk, FileUri, Unsigned } from './common.js';
import {
  changes,
  Empty,
  followable,
  LinkDetails,
  ModifiedAtUs,
  reads,
  permitted,
  sandboxed,
  timed,
} from './file-common.js';

export const fsReadFile = request({
  doc: 'Reads a whole regular file of at most 512 MiB.',
  params: z.object({ path: FileUri, ...followable }),
  result: z.object({ dataBase64: Chunk }),
  orderedBy: ({ path }) => reads(path),
  bytes: { result: 'dataBase64' },
  answerSize: 'large',
  idempotent: true,
});

export const fsWriteFile = request({
  doc: 'Creates a file or replaces its content. The directory must exist.',
  params: z.object({
    path: FileUri,
    dataBase64: Chunk,
    atomic: z.boolean().nullish().meta({
      description:
        'Extension `fsAtomicWrite`: readers see either the old or the new content, and a failure keeps the old. Default false.',
    }),
    exclusive: z.boolean().nullish().meta({
      description:
        'Extension `fsPlacement`: fail if anything exists there, even a link; the file appears only when complete. Default false.',
    }),
    ...permitted,
    ...timed,
    ...followable,
  }),
  result: Empty,
  orderedBy: ({ path }) => changes(path),
  bytes: { params: 'dataBase64' },
});

export const fsGetMetadata = request({
  doc: 'Describes the file that a path leads to.',
  params: z.object({
    path: FileUri,
    details: z.boolean().nullish().meta({
      description: 'Extension `fsPlacement`: fill in `mode`, `modifiedAtUs` and `link`. Default false.',
    }),
    ...followable,
  }),
  result: z.object({
    isDirectory: z.boolean(),
    isFile: z.boolean(),
    isSymlink: z.boolean().meta({ description: 'Whether the path itself is a link.' }),
    size: Unsigned,
    createdAtMs: z.number().int().meta({ description: '0 if the machine does not report it.' }),
    modifiedAtMs: z.number().int(),
    mode: Unsigned.optional().meta({ description: 'Extension: permission bits, only with `details`.' }),
    modifiedAtUs: ModifiedAtUs,
    link: LinkDetails,
  }),
  orderedBy: ({ path }) => reads(path),
  idempotent: true,
});

export const fsCanonicalize = request({
  doc: 'Resolves all links in a path, which must exist.',
  params: z.object({ path: FileUri, ...sandboxed }),
  result: z.object({ path: FileUri }),
  orderedBy: ({ path }) => reads(path),
  idempotent: true,
});
