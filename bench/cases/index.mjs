import { heldApply, heldList, heldRead, heldStart } from './changes.mjs';
import { cli } from './cli.mjs';
import { crowd } from './crowd.mjs';
import { durableOutput, durableStart } from './durable.mjs';
import { durableDeath, durableKeeper, durableUpgrade } from './durable-pauses.mjs';
import { echo } from './echo.mjs';
import { filesSmall } from './files-small.mjs';
import { filesStream } from './files-stream.mjs';
import { filesWalk } from './files-walk.mjs';
import { filesWhole } from './files-whole.mjs';
import { forward } from './forward.mjs';
import { join } from './join.mjs';
import { pipes } from './pipes.mjs';
import { pty } from './pty.mjs';
import { proxy } from './proxy.mjs';
import { ready } from './ready.mjs';
import { recording } from './recording.mjs';
import { remote } from './remote.mjs';
import { networkStart, sandboxRead, sandboxStart } from './sandbox.mjs';
import { slowReader } from './slow-reader.mjs';
import { spool } from './spool.mjs';
import { spoolCrowd } from './spool-crowd.mjs';
import { spoolPages } from './spool-pages.mjs';
import { spoolSearch } from './spool-search.mjs';
import { spoolStart } from './spool-start.mjs';
import { start } from './start.mjs';
import { status } from './status.mjs';

/** All cases, in the order they run and are reported. */
export const cases = [
  echo,
  status,
  start,
  pipes,
  pty,
  spool,
  spoolStart,
  spoolCrowd,
  spoolPages,
  spoolSearch,
  durableStart,
  durableOutput,
  durableDeath,
  durableUpgrade,
  durableKeeper,
  recording,
  join,
  filesSmall,
  filesWhole,
  filesStream,
  filesWalk,
  crowd(100),
  crowd(1000),
  ready,
  slowReader,
  remote,
  forward,
  cli,
  sandboxStart,
  networkStart,
  proxy,
  sandboxRead,
  heldStart,
  heldRead,
  heldList,
  heldApply,
];
