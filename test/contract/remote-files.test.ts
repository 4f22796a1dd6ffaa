import { ExecClient } from '../../src/client/index.js';
import { RemoteFileSystem } from '../../src/client/files/remote-file-system.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { startProgram } from '../../src/transport/start-program.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { afterAll, beforeAll } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import type { OpenFileSystem } from './file-bench.js';
import { fileSystemContract } from './file-system.contract.js';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

/** The files behind a client, closed with it. */
function filesOf(
  client: ExecClient,
  alsoClose: () => Promise<void> = async () => undefined,
): Awaited<ReturnType<OpenFileSystem>> {
  return {
    files: new RemoteFileSystem(client),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await alsoClose();
    },
  };
}

fileSystemContract('memory', async () => {
  const inProcess = new ExecServer();
  const dial = async () => {
    const [near, far] = createMemoryChannels();
    void inProcess.accept(far);
    return near;
  };
  return filesOf(await ExecClient.connect({ dial, resume: true }), () => inProcess.close());
});

fileSystemContract('ws', async () =>
  filesOf(await ExecClient.connect({ dial: () => dialWebSocket(server.url), resume: true })),
);

fileSystemContract('ws without binary frames', async () => {
  const dial = () => dialWebSocket(server.url);
  return filesOf(await ExecClient.connect({ dial, resume: true, binaryFrames: false }));
});

fileSystemContract('stdio', async () => {
  const program = { program: process.execPath, args: [bin, 'serve', '--listen', 'stdio'] };
  return filesOf(await ExecClient.connect({ dial: async () => startProgram(program), resume: false }));
});
