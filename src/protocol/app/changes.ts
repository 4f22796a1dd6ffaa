import { z } from 'zod';
import {
  ChangeCounts,
  changesApply as execApply,
  changesDiff as execDiff,
  ChangesId,
  changesList as execList,
  changesRead as execRead,
  changesSets as execSets,
  changesUpdated as execUpdated,
  HeldChange,
} from '../exec/changes.js';
import { notification, request } from '../method.js';
import { Base64, Empty, TargetEnvironment } from './common.js';

/** As elsewhere in this protocol, paths are plain. One that is not UTF-8 has no plain form. */
const HeldPath = z.string().meta({
  description: 'An absolute path on the machine, or a `file:` URI if its bytes are not UTF-8.',
});

const AppChange = HeldChange.extend({ path: HeldPath });

const OneSet = z.object({ changesId: ChangesId, environmentId: TargetEnvironment });

const somePaths = z
  .array(HeldPath)
  .nullish()
  .meta({ description: 'Only what is at or below these paths. Absent: everything.' });

const lane = ({ changesId }: { changesId: string }): string => `changes:${changesId}`;

/** What `command/exec` says about holding changes. All of it is experimental. */
export const HeldCommand = {
  changes: z
    .literal('hold')
    .nullish()
    .meta({
      description:
        'Changes below the policy’s writable paths are held in a set, and the files stay as they are. Requires ' +
        '`experimentalApi`.',
    }),
  changesId: ChangesId.nullish().meta({
    description: 'The set to use; created if there is none. Absent: a new set for this command alone.',
  }),
  changesLease: z.enum(['session', 'kept']).nullish().meta({
    description:
      'Whether a new set ends with the connection, or is kept until it is discarded. Default `session`.',
  }),
};

const EnvironmentOnly = z.object({ environmentId: TargetEnvironment });

export const changesSets = request({
  doc: execSets.doc,
  params: EnvironmentOnly,
  result: z.object({
    sets: z.array(execSets.result.shape.sets.element.extend({ roots: z.array(HeldPath) })),
  }),
  experimental: true,
});

export const changesList = request({
  doc: execList.doc,
  params: execList.params.extend({ environmentId: TargetEnvironment }),
  result: execList.result.extend({ changes: z.array(AppChange) }),
  orderedBy: lane,
  experimental: true,
  answerSize: 'large',
});

export const changesRead = request({
  doc: execRead.doc,
  params: execRead.params.extend({ path: HeldPath, environmentId: TargetEnvironment }),
  result: execRead.result.extend({ dataBase64: Base64 }),
  base64: { result: 'dataBase64' },
  orderedBy: lane,
  experimental: true,
  answerSize: 'large',
});

export const changesDiff = request({
  doc: execDiff.doc,
  params: execDiff.params.extend({ paths: somePaths, environmentId: TargetEnvironment }),
  result: execDiff.result.extend({
    diffs: z.array(execDiff.result.shape.diffs.element.extend({ path: HeldPath })),
  }),
  orderedBy: lane,
  experimental: true,
  answerSize: 'large',
});

export const changesApply = request({
  doc: execApply.doc,
  params: execApply.params.extend({ paths: somePaths, environmentId: TargetEnvironment }),
  result: z.object({
    applied: ChangeCounts,
    conflicts: z.array(AppChange).meta({ description: 'What was not applied because of a conflict.' }),
  }),
  orderedBy: lane,
  experimental: true,
  answerSize: 'large',
});

export const changesDiscard = request({
  doc: 'Forgets a set of held changes and everything in it. The files below stay as they are.',
  params: OneSet,
  result: Empty,
  orderedBy: lane,
  control: true,
  experimental: true,
});

export const changesUpdated = notification({
  doc: execUpdated.doc,
  params: execUpdated.params.extend({
    environmentId: z.string().nullable().meta({ description: 'As in the requests; null is the default.' }),
  }),
});
