import { RemoteEnvironment, dialWebSocket } from '../src/client/index.js';
import { startProgram } from '../src/transport/index.js';
import { type Exceptions, type OpenEnvironment, processContract } from '../test/contract/process.contract.js';
import { runContract } from '../test/contract/run.contract.js';
import { cleanEnv } from './harness/clean-env.js';
import { codexServer } from './harness/exec-server.js';
import { sharedCodex } from './harness/shared-codex.js';

/** What the real server does not promise, as it was seen to behave. Our own servers keep every one of these. */
const codexExceptions: Exceptions = {
  // The exit code is all it tells: 128 + n on pipes.
  namesSignals: false,
  // It has neither `process/resize` nor `process/closeStdin`.
  resizes: false,
  closesStdin: false,
  // It kills the process group; what left the group lives on.
  takesWholeTrees: false,
  // Trailing output of a short process may be numbered after its exit.
  ordersOutputBeforeExit: false,
};

const codex = sharedCodex();

function contracts(name: string, open: OpenEnvironment): void {
  processContract(name, open, codexExceptions);
  runContract(name, open, codexExceptions);
}

contracts('codex over ws', () =>
  RemoteEnvironment.connect({ id: 'ws', dial: () => dialWebSocket(codex.url), resume: true }),
);

contracts('codex over stdio', () => {
  const [program = '', ...args] = codexServer.argv('stdio');
  const dial = () =>
    startProgram({ program, args, cwd: codex.run.outside, env: cleanEnv(codex.run.serverHome) });
  return RemoteEnvironment.connect({ id: 'stdio', dial, resume: false });
});
