import { z } from 'zod';
import { request } from '../method.js';
import { Unsigned } from './common.js';
import { NoParams } from './environment.js';

/** More than any command line has. */
const MAX_ARGUMENTS = 256;
const MAX_ARGUMENT_CHARS = 4096;
const Argument = z.string().max(MAX_ARGUMENT_CHARS);

export const serverUpgrade = request({
  doc:
    'Replaces the running server by the installed version, or by one with another command line. Programs, sessions, ' +
    'leases and listeners continue. The new server is first started beside the old one: if it cannot take over, this ' +
    'fails with `upgradeRefused` and nothing has changed. Answered right before the old server exits.',
  extension: 'upgrade',
  params: z.object({
    arguments: z.array(Argument).max(MAX_ARGUMENTS).nullish().meta({
      description:
        'The arguments after `serve` on the command line of the new server. Absent or null: the same as now. `--durable` and `--listen` must stay the same.',
    }),
    program: Argument.nullish().meta({
      description: 'The absolute path of the program to run. Absent or null: the same as now.',
    }),
    dryRun: z
      .boolean()
      .nullish()
      .meta({ description: 'Only find out whether it would work. Nothing is replaced.' }),
  }),
  result: z.object({
    generation: Unsigned.meta({ description: 'The number of the new server, for `server/status`.' }),
  }),
});

export const serverStatus = request({
  doc: 'Says which server is running. That changes when the server is replaced or dies.',
  extension: 'upgrade',
  params: NoParams,
  result: z.object({
    version: z.string(),
    generation: Unsigned.meta({ description: 'How many servers there have been, including this one.' }),
    failedUpgrade: z.string().optional().meta({
      description:
        'Why the last upgrade failed after the old server had exited. This server is the previous version.',
    }),
  }),
  idempotent: true,
});
