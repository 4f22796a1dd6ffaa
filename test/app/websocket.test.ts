import { afterAll, beforeAll } from 'vitest';
import { type OpenedApp, WebSocketApp } from '../../testkit/app-server.mjs';
import { commandContract } from './command.contract.js';
import { commandControlContract } from './command-control.contract.js';
import { commandOutputContract } from './command-output.contract.js';
import { environmentContract } from './environment.contract.js';
import { filesContract } from './files.contract.js';
import { processContract } from './process.contract.js';
import { sessionContract } from './session.contract.js';

let shared: WebSocketApp;
beforeAll(async () => {
  shared = await WebSocketApp.start();
});
afterAll(() => shared[Symbol.asyncDispose]());

/** One server for all cases, except those that want it to have been started in their own way. */
const open = async (options?: { env?: Record<string, string>; cwd?: string }): Promise<OpenedApp> => {
  if (!options) return await shared.connect();
  const own = await WebSocketApp.start(options);
  const app = await own.connect();
  return {
    client: app.client,
    hangUp: () => app.hangUp(),
    [Symbol.asyncDispose]: async () => {
      app.hangUp();
      await own[Symbol.asyncDispose]();
    },
  };
};

sessionContract('websocket', open);
commandContract('websocket', open);
commandControlContract('websocket', open);
commandOutputContract('websocket', open);
processContract('websocket', open);
filesContract('websocket', open);
environmentContract('websocket', open);
