import { afterAll, beforeAll } from 'vitest';
import { codexServer, type RunningServer, startServer } from './exec-server.js';
import { openRunDirectory, type RunDirectory } from './run-directory.js';

/** One real server over ws for all cases of a file or a `describe`; asked for when a case runs. */
export function sharedCodex(): { readonly url: string; readonly run: RunDirectory } {
  let run: RunDirectory;
  let server: RunningServer;
  beforeAll(async () => {
    run = await openRunDirectory();
    server = await startServer(codexServer, run);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await run[Symbol.asyncDispose]();
  });
  return {
    get url() {
      return server.url;
    },
    get run() {
      return run;
    },
  };
}
