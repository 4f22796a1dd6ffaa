import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { dialWebSocket, RemoteEnvironment } from '../../dist/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { MARK_NAME } from '../chaos/jobs.mjs';

/** After so many rounds the client goes and another one comes: sessions end, too. */
const ROUNDS_PER_CLIENT = 15;

/** Does one activity again and again until `over()`; resolves to how often. */
export async function work(name, { activity, url, folder, mark, over }) {
  const own = join(folder, name);
  mkdirSync(own);
  let round = 0;
  while (!over()) {
    await withClient(url, async ({ environment, proxy }) => {
      const start = (spec) => environment.start({ ...spec, env: { ...spec.env, [MARK_NAME]: mark } });
      const at = (file) => join(own, file);
      for (let left = ROUNDS_PER_CLIENT; left > 0 && !over(); left -= 1) {
        round += 1;
        await activity({ start, at, files: environment.files, proxy, round }).catch((cause) => {
          throw new Error(`${name}, round ${round}: ${cause.message}`, { cause });
        });
      }
    });
  }
  return round;
}

async function withClient(url, use) {
  const proxy = await FaultProxy.to(url);
  try {
    const environment = await RemoteEnvironment.connect({
      id: 'soak',
      dial: () => dialWebSocket(proxy.url),
      resume: true,
    });
    await use({ environment, proxy });
    await environment.close();
  } finally {
    await proxy.close();
  }
}
