import type { AppCase } from '../case.js';
import { commandCases } from './command.js';
import { commandControlCases } from './command-control.js';
import { commandInputCases } from './command-input.js';
import { environmentCases } from './environments.js';
import { envelopeCases } from './envelope.js';
import { fileCases } from './files.js';
import { handshakeCases } from './handshake.js';
import { processCases } from './process.js';
import { sandboxCases } from './sandbox.js';
import { terminalCases } from './terminal.js';
import { watchCases } from './watches.js';

export { webSocketCases } from './websocket.js';

/** Everything both servers are asked, over every transport. */
export const cases: readonly AppCase[] = [
  ...handshakeCases,
  ...envelopeCases,
  ...commandInputCases,
  ...commandCases,
  ...commandControlCases,
  ...terminalCases,
  ...sandboxCases,
  ...processCases,
  ...environmentCases,
  ...fileCases,
  ...watchCases,
];
