import type { ConformanceCase } from '../case.js';
import { changesCases } from './changes.js';
import { envelopeCases } from './envelope.js';
import { fileCases } from './files.js';
import { handshakeCases } from './handshake.js';
import { historyCases } from './history.js';
import { leaseCases } from './leases.js';
import { lineCases } from './lines.js';
import { portCases } from './ports.js';
import { processCases } from './processes.js';
import { promiseCases } from './promises.js';
import { readCases } from './reads.js';
import { sessionCases } from './sessions.js';

/** All cases, in protocol order. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...envelopeCases,
  ...handshakeCases,
  ...processCases,
  ...readCases,
  ...lineCases,
  ...sessionCases,
  ...leaseCases,
  ...historyCases,
  ...portCases,
  ...fileCases,
  ...changesCases,
  ...promiseCases,
];
