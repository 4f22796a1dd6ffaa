import { execCommand } from './exec-command.js';
import { listDirectory } from './files/list-directory.js';
import { readFile } from './files/read-file.js';
import { search } from './files/search.js';
import { writeFile } from './files/write-file.js';
import { killSession } from './kill-session.js';
import { listSessions } from './list-sessions.js';
import { readOutput } from './read-output.js';
import type { Tool } from './tool.js';
import { waitFor } from './wait-for.js';
import { writeStdin } from './write-stdin.js';

/** Every tool, in the order a model sees them. */
export const allTools: readonly Tool[] = [
  execCommand,
  writeStdin,
  waitFor,
  readOutput,
  listSessions,
  killSession,
  readFile,
  writeFile,
  listDirectory,
  search,
];
