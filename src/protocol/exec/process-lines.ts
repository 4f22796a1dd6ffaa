import { z } from 'zod';
import { request } from '../method.js';
import { Chunk, OutputStreamName, ProcessId, Unsigned } from './common.js';

const EXTENSION = 'processLines';

const Line = z.object({
  line: Unsigned.meta({
    description: 'Counts from 1 over everything the process has printed, whether or not it is still there.',
  }),
  seq: Unsigned.meta({ description: 'The entry it begins in.' }),
  offset: Unsigned.meta({ description: 'Output bytes before it.' }),
  timeMs: z.number().meta({ description: 'When that entry arrived, in milliseconds since 1970.' }),
  stream: OutputStreamName.meta({ description: 'The stream it begins on.' }),
  chunk: Chunk.meta({ description: 'As printed, without the line ending.' }),
  cut: z.boolean().meta({ description: 'True if it is longer than this.' }),
});

const Gap = z.object({
  beforeLine: Unsigned.meta({ description: 'The line that continues or begins after it.' }),
  lostBytes: Unsigned,
});

const state = {
  gaps: z.array(Gap).meta({ description: 'What is missing from the part that was searched.' }),
  closed: z.boolean().meta({ description: 'No more output will come.' }),
  failure: z.string().nullable().meta({ description: 'Why there is no end, as in `process/read`.' }),
};

const wanted = {
  processId: ProcessId,
  sinceMs: z.number().nullish().meta({
    description:
      'Only lines that begin at this time or later, in milliseconds since 1970; negative: before now, by the server’s clock.',
  }),
  maxLineBytes: Unsigned.nullish().meta({ description: 'Longer lines are cut. 1 to 65,536; default 4,096.' }),
  waitMs: Unsigned.nullish().meta({
    description:
      'Wait up to this long for something to return. An unfinished last line is then left for later. Default 0.',
  }),
};

const LineNumber = z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

export const processSearch = request({
  doc:
    'Finds lines in the output of a process, as far as it is still stored: in memory, on disk, or on disk from an earlier server. ' +
    'For processes of the session, and for kept ones of the same client, attached or not.',
  extension: EXTENSION,
  params: z.object({
    ...wanted,
    pattern: z.string().min(1).max(1000),
    regex: z
      .boolean()
      .nullish()
      .meta({
        description:
          'Default false: the pattern is literal text. A regular expression has no back references and no look-around, ' +
          'so that its time grows only with the length of the output. Colours are not part of a line.',
      }),
    caseSensitive: z.boolean().nullish().meta({ description: 'Default true.' }),
    maxMatches: Unsigned.nullish().meta({ description: '1 to 10,000; default 200.' }),
    cursor: z.string().nullish().meta({
      description: 'From an earlier answer: continues after it, and `sinceMs` has no effect.',
    }),
  }),
  result: z.object({
    matches: z.array(Line),
    cursor: z.string().meta({ description: 'Continues the search, including output printed later.' }),
    atEnd: z.boolean().meta({ description: 'All available output has been searched.' }),
    ...state,
  }),
  idempotent: true,
  answerSize: 'list',
  viewing: 'machine',
});

export const processLines = request({
  doc: 'Reads lines of the output of a process by number. For the same processes as `process/search`.',
  extension: EXTENSION,
  params: z.object({
    ...wanted,
    from: LineNumber.nullish().meta({
      description: 'The first line; negative: counted from the end, -1 being the last. Default 1.',
    }),
    to: LineNumber.nullish().meta({ description: 'The last line, counted the same way. Default -1.' }),
  }),
  result: z.object({
    lines: z.array(Line).meta({ description: 'At most 10,000, and about 1 MiB.' }),
    totalLines: Unsigned.meta({ description: 'The number of lines so far, including those that are gone.' }),
    nextLine: Unsigned.nullable().meta({ description: 'Continue here; null if there are no more.' }),
    ...state,
  }),
  idempotent: true,
  answerSize: 'list',
  viewing: 'machine',
});
