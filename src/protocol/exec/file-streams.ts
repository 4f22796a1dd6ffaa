import { z } from 'zod';
import { request } from '../method.js';
import { Chunk, FileUri, Unsigned } from './common.js';
import { changes, looksAt, permitted } from './file-common.js';
import { Sandbox } from './sandbox.js';

const HandleId = z
  .string()
  .meta({ description: 'Chosen by the client, unique per connection, at most 32 bytes. May be empty.' });

/** What happens to one handle keeps its order, so that blocks may be asked for ahead. */
const handleLane = (params: { handleId: string }): string => `handle:${params.handleId}`;

export const fsOpen = request({
  doc: 'Opens a regular file for block access. It closes with the connection; at most 128 are open at a time.',
  params: z.object({
    handleId: HandleId,
    path: FileUri,
    mode: z.enum(['read', 'replace', 'continue']).default('read').meta({
      description:
        '`replace` creates or empties the file at once. Extension `fsPlacement`: `continue` writes on in a file that is there.',
    }),
    ...permitted,
    sandbox: Sandbox.nullish(),
  }),
  result: z.object({ handleId: HandleId }),
  orderedBy: (params) => [
    handleLane(params),
    params.mode === 'read' ? looksAt(params.path) : changes(params.path),
  ],
});

export const fsReadBlock = request({
  doc: 'Reads a block. Fewer bytes than asked for come only at the end of the file.',
  params: z.object({
    handleId: HandleId,
    offset: Unsigned,
    len: Unsigned.meta({ description: '1 to 1,048,576.' }),
  }),
  result: z.object({
    chunk: Chunk,
    eof: z.boolean().meta({ description: 'True when fewer than `len` bytes were there.' }),
  }),
  orderedBy: handleLane,
  bytes: { result: 'chunk' },
  answerSize: 'large',
});

export const fsWriteBlock = request({
  doc: 'Writes a block anywhere in the file; what was skipped reads as zeros.',
  params: z.object({
    handleId: HandleId,
    offset: Unsigned,
    chunk: Chunk.meta({ description: '1 to 1,048,576 bytes.' }),
  }),
  result: z.object({}),
  orderedBy: handleLane,
  bytes: { params: 'chunk' },
});

export const fsClose = request({
  doc: 'Closes a handle. Unknown ones are fine.',
  params: z.object({
    handleId: HandleId,
    renameTo: FileUri.nullish().meta({
      description:
        'Extension `fsPlacement`: gives the file this path, replacing a file in one step, unless a write to it failed. The handle must be known then.',
    }),
  }),
  result: z.object({}),
  orderedBy: (params) =>
    typeof params.renameTo === 'string' ? [handleLane(params), changes(params.renameTo)] : handleLane(params),
});
