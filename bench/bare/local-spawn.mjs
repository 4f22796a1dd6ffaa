// What `/bin/true` costs in process: no server, no wire.
import { LocalEnvironment } from '../../dist/environment/index.js';
import { serveSamples } from './serve-samples.mjs';

const environment = new LocalEnvironment();
const env = { PATH: '/usr/bin:/bin' };
await serveSamples(async () => {
  const begun = performance.now();
  const child = await environment.start({ argv: ['/bin/true'], envPolicy: null, env });
  await child.wait();
  return performance.now() - begun;
});
await environment.close();
process.exit(0);
