import { LocalEnvironment, type OpenEnvironment } from '../../src/environment/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { localEnvironments, openInProcess } from '../harness/app-in-process.js';
import { type OpenApp, StdioApp } from '../../testkit/app-server.mjs';
import { commandContract } from './command.contract.js';
import { commandControlContract } from './command-control.contract.js';
import { commandOutputContract } from './command-output.contract.js';
import { environmentContract } from './environment.contract.js';
import { filesContract } from './files.contract.js';
import { processContract } from './process.contract.js';
import { sessionContract } from './session.contract.js';

/** Nothing but this machine can be reached. */
const onlyLocal: OpenEnvironment = async ({ id }) => {
  if (id === 'local') return new LocalEnvironment();
  throw new ExecError('notConnected', 'nobody listens there');
};

/** Lines over streams in this process; the built server where a case wants it started in its own way. */
const open: OpenApp = async (options) =>
  options ? new StdioApp(options) : openInProcess({ environments: localEnvironments(onlyLocal) });

sessionContract('stdio', open);
commandContract('stdio', open);
commandControlContract('stdio', open);
commandOutputContract('stdio', open);
processContract('stdio', open);
filesContract('stdio', open);
environmentContract('stdio', open);
