import { z } from 'zod';
import { ProcessUsage } from './common.js';
import { NetworkDenied } from './network.js';

/** What our servers also say about how a process ended, wherever they say that. Each is absent if there is nothing to say. */
export const exitExtras = {
  changesFull: z.boolean().optional().meta({
    description:
      'Extension `changes`: it was killed because its held changes reached their size limit. Absent: no.',
  }),
  networkDenied: NetworkDenied,
  usage: ProcessUsage.optional().meta({ description: 'With `reportUsage`: what it cost.' }),
};
