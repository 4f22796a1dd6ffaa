import { echo } from './echo-case.mjs';
import { profileServer } from './server-case.mjs';
import { profileStart } from './start-case.mjs';
import { filesWrite, pipes, pipesBinary, pty } from './throughput-cases.mjs';

const served = (spec) => ({ name: spec.name, profile: (context) => profileServer(spec, context) });
const run = { name: 'run', about: 'The start of the command line' };

/** Everything that can be profiled, in the order of the report. */
export const cases = [
  ...[pipes, pipesBinary, pty, echo, filesWrite].map(served),
  { name: run.name, profile: (context) => profileStart(run, context) },
];
