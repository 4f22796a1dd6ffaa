import { afterAll, beforeAll } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { openWebSocketWire } from './wire.js';
import { wireEnvelopeContract } from './wire-envelope.contract.js';
import { wireProcessContract } from './wire-process.contract.js';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

wireEnvelopeContract(
  'ws',
  openWebSocketWire(() => server),
);
wireProcessContract(
  'ws',
  openWebSocketWire(() => server),
);
