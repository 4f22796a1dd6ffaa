import { afterAll, beforeAll } from 'vitest';
import type { Environment } from '../../src/contract/index.js';
import { SshMachine } from '../harness/ssh-machine.js';
import { fileSystemContract } from './file-system.contract.js';
import { processContract } from './process.contract.js';
import { runContract } from './run.contract.js';

let machine: SshMachine;
let shared: Environment;
beforeAll(async () => {
  machine = await SshMachine.start();
  shared = await machine.open();
});
afterAll(async () => {
  await shared.close();
  await machine[Symbol.asyncDispose]();
});

processContract('ssh', () => machine.open());
runContract('ssh', () => machine.open());

// One server for all: each case has a directory of its own, and nothing but files is shared.
fileSystemContract('ssh', async () => ({
  files: shared.files,
  [Symbol.asyncDispose]: async () => undefined,
}));
