import { cli } from './cli.mjs';
import { crowd } from './crowd.mjs';
import { echo } from './echo.mjs';
import { filesSmall } from './files-small.mjs';
import { filesStream } from './files-stream.mjs';
import { filesWalk } from './files-walk.mjs';
import { filesWhole } from './files-whole.mjs';
import { pipes } from './pipes.mjs';
import { pty } from './pty.mjs';
import { ready } from './ready.mjs';
import { recording } from './recording.mjs';
import { remote } from './remote.mjs';
import { sandboxRead, sandboxStart } from './sandbox.mjs';
import { slowReader } from './slow-reader.mjs';
import { spool } from './spool.mjs';
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
  recording,
  filesSmall,
  filesWhole,
  filesStream,
  filesWalk,
  crowd(100),
  crowd(1000),
  ready,
  slowReader,
  remote,
  cli,
  sandboxStart,
  sandboxRead,
];
