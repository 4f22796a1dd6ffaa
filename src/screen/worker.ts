import { parentPort } from 'node:worker_threads';
import { render } from './render.js';
import type { RenderJob } from './screen-state.js';

/** The thread that renders screens, one job at a time. */
parentPort?.on('message', (job: RenderJob) => {
  parentPort?.postMessage(render(job));
});
