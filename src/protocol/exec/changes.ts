import { z } from 'zod';
import { notification, request } from '../method.js';
import { Chunk, FileUri, Unsigned } from './common.js';
import { NoParams } from './environment.js';
import { Empty } from './file-common.js';

const extension = 'changes';

/** The most changes in one answer. */
const MAX_CHANGES_PER_PAGE = 10_000;

/** The longest text of a diff, and the longest part of a file, in one answer. */
const MAX_DIFF_BYTES = 4 * 1024 * 1024;

export const ChangesId = z.string().meta({
  description: 'Names a set of held changes: up to 64 letters, digits, dots, dashes and underscores.',
});

export const ChangeKind = z
  .enum(['created', 'modified', 'deleted', 'typeChanged', 'linkChanged', 'attributesChanged'])
  .meta({
    description:
      '`modified`: other content. `linkChanged`: a link with another target. `attributesChanged`: only mode, owner, ' +
      'times or extended attributes.',
  });

export const HeldChange = z.object({
  path: FileUri,
  kind: ChangeKind,
  type: z
    .enum(['file', 'directory', 'symlink', 'fifo', 'socket', 'device'])
    .meta({ description: 'Of the held version; for something deleted, of what was there.' }),
  size: Unsigned.nullable().meta({ description: 'In bytes; null if it was deleted or is not a file.' }),
  baseSize: Unsigned.nullable().meta({ description: 'The same for the file below.' }),
  conflict: z
    .boolean()
    .meta({ description: 'Somebody else has changed the file on disk since the program first changed it.' }),
});
export type HeldChange = z.output<typeof HeldChange>;

export const ChangeCounts = z.object({
  created: Unsigned,
  modified: Unsigned.meta({ description: 'Everything that exists on both sides and differs.' }),
  deleted: Unsigned,
});
export type ChangeCounts = z.output<typeof ChangeCounts>;

const lane = ({ changesId }: { changesId: string }): string => `changes:${changesId}`;

const somePaths = z
  .array(FileUri)
  .nullish()
  .meta({ description: 'Only what is at or below these paths. Absent: everything.' });

export const changesSets = request({
  doc: 'Lists the sets of held changes that belong to the client, oldest first.',
  extension,
  params: NoParams,
  result: z.object({
    sets: z.array(
      z.object({
        changesId: ChangesId,
        lease: z.enum(['session', 'kept']),
        createdAtMs: Unsigned,
        roots: z.array(FileUri).meta({ description: 'The directories whose changes are held.' }),
        running: Unsigned.meta({ description: 'How many programs run in it.' }),
        bytes: Unsigned.optional().meta({
          description: 'Its size on disk when it was last measured.',
        }),
        files: Unsigned.optional().meta({ description: 'Likewise, in files and directories.' }),
        isFull: z.boolean().optional().meta({
          description: 'It is full: its programs were killed, and no others can start.',
        }),
      }),
    ),
  }),
  idempotent: true,
  answerSize: 'list',
});

export const changesList = request({
  doc: 'Lists what programs have changed in a set, a directory before what is in it.',
  extension,
  params: z.object({
    changesId: ChangesId,
    glob: z.string().min(1).nullish().meta({
      description: 'Only paths that match; relative patterns match below any directory of the set.',
    }),
    limit: Unsigned.max(MAX_CHANGES_PER_PAGE).nullish().meta({ description: 'Default 1,000.' }),
    cursor: z.string().nullish().meta({ description: 'From the previous page.' }),
  }),
  result: z.object({
    changes: z.array(HeldChange),
    counts: ChangeCounts.meta({ description: 'For everything that matches, not only this page.' }),
    cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  }),
  orderedBy: lane,
  idempotent: true,
  answerSize: 'list',
});

export const changesRead = request({
  doc: 'Reads part of a file: the held version, or the one on disk. For a link, its target.',
  extension,
  params: z.object({
    changesId: ChangesId,
    path: FileUri,
    side: z.enum(['held', 'base']).meta({ description: 'The held version, or the one on disk.' }),
    offset: Unsigned.nullish().meta({ description: 'Default 0.' }),
    maxBytes: Unsigned.max(MAX_DIFF_BYTES).nullish().meta({ description: 'Default and maximum 4 MiB.' }),
  }),
  result: z.object({
    dataBase64: Chunk,
    size: Unsigned.meta({ description: 'Of the whole file.' }),
    eof: z.boolean(),
  }),
  base64: { result: 'dataBase64' },
  orderedBy: lane,
  idempotent: true,
  answerSize: 'large',
});

export const changesDiff = request({
  doc: 'Shows changes as a patch that `git apply` can read.',
  extension,
  params: z.object({
    changesId: ChangesId,
    paths: somePaths,
    contextLines: Unsigned.max(1000).nullish().meta({ description: 'Default 3.' }),
    maxBytes: Unsigned.max(MAX_DIFF_BYTES).nullish().meta({ description: 'Default 1 MiB.' }),
    cursor: z.string().nullish().meta({ description: 'From the previous page.' }),
  }),
  result: z.object({
    diffs: z.array(
      z.object({
        path: FileUri,
        kind: ChangeKind,
        text: z.string(),
        omitted: z.enum(['binary', 'tooLarge']).nullable().meta({
          description:
            'Why the text does not show the content. `tooLarge`: a file of more than 4 MiB, or its patch.',
        }),
      }),
    ),
    cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  }),
  orderedBy: lane,
  idempotent: true,
  answerSize: 'large',
});

export const changesApply = request({
  doc: 'Applies the held changes to the files below. A crash in the middle is finished or undone by the next server.',
  extension,
  params: z.object({
    changesId: ChangesId,
    paths: somePaths,
    onConflict: z
      .enum(['refuse', 'skip', 'overwrite'])
      .nullish()
      .meta({
        description:
          'What to do if somebody else has changed something that would be replaced. `refuse` (default): apply nothing. ' +
          '`skip`: apply the rest. `overwrite`: apply it anyway.',
      }),
  }),
  result: z.object({
    applied: ChangeCounts,
    conflicts: z.array(HeldChange).meta({ description: 'What was not applied because of a conflict.' }),
  }),
  orderedBy: lane,
  idempotent: true,
  answerSize: 'list',
});

export const changesDiscard = request({
  doc: 'Forgets a set of held changes and everything in it. The files below stay as they are.',
  extension,
  params: z.object({ changesId: ChangesId }),
  result: Empty,
  orderedBy: lane,
  control: true,
});

export const changesUpdated = notification({
  doc:
    'A set of the client may have grown: a program in it has ended, a file operation has changed it, or running ' +
    'programs have made it larger, which is checked at least every two seconds.',
  extension,
  params: z.object({
    changesId: ChangesId,
    counts: ChangeCounts.meta({ description: 'Of everything in it.' }),
    running: Unsigned.meta({ description: 'How many programs still run in it.' }),
  }),
});
