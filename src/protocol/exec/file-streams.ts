import { z } from 'zod';
import { request } from '../method.js';
import { Chunk, FileUri, Unsigned } from './common.js';
import { changes, reads, permitted, timed } from './file-common.js';
import { Sandbox } from './sandbox.js';

const HandleId = z
  .string()
  .meta({ description: 'Chosen by the client, unique per connection, at most 32 bytes. May be empty.' });

/** Requests for one handle are ordered, so that a client may request blocks in advance. */
const handleLane = (params: { handleId: string }): string => `handle:${params.handleId}`;

export const fsOpen = request({
  doc: 'Opens a regular file for block access. It is closed with the connection; at most 128 may be open at a time.',
  params: z.object({
    handleId: HandleId,
    path: FileUri,
    mode: z.enum(['read', 'replace', 'continue']).default('read').meta({
      description:
        '`replace` creates or empties the file immediately. Extension `fsPlacement`: `continue` writes to an existing file without emptying it.',
    }),
    ...permitted,
    sandbox: Sandbox.nullish(),
  }),
  result: z.object({ handleId: HandleId }),
  orderedBy: (params) => [
    handleLane(params),
    params.mode === 'read' ? reads(params.path) : changes(params.path),
  ],
});

export const fsReadBlock = request({
  doc: 'Reads a block. Returns fewer bytes than requested only at the end of the file.',
  params: z.object({
    handleId: HandleId,
    offset: Unsigned,
    len: Unsigned.meta({ description: '1 to 1,048,576.' }),
  }),
  result: z.object({
    chunk: Chunk,
    eof: z.boolean().meta({ description: 'True if fewer than `len` bytes were left.' }),
  }),
  orderedBy: handleLane,
  bytes: { result: 'chunk' },
  answerSize: 'large',
});

export const fsWriteBlock = request({
  doc: 'Writes a block anywhere in the file; gaps read as zeros.',
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
  doc: 'Closes a handle. Unknown ones are ignored.',
  params: z.object({
    handleId: HandleId,
    renameTo: FileUri.nullish().meta({
      description:
        'Extension `fsPlacement`: gives the file this path, replacing a file in one step, unless a write to it failed. The handle must be known then.',
    }),
    ...timed,
  }),
  result: z.object({}),
  orderedBy: (params) =>
    typeof params.renameTo === 'string' ? [handleLane(params), changes(params.renameTo)] : handleLane(params),
});
