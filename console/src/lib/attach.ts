import type { RemoteEnvironment } from '../../../src/client/index.js';
import type { AttachOptions, ExecProcess } from '../../../src/contract/index.js';
import { KEPT_SESSION } from '../../../src/protocol/index.js';
import type { Machine } from './machine.js';

/** Where a process is: its id is unique within its session only. */
export interface ProcessPlace {
  readonly machine: Machine;
  readonly session: string;
  readonly processId: string;
}

/** Attaches without disturbing anybody. Unless told otherwise, to look things up: nothing is streamed and nobody waits for us. */
export async function attachTo(
  environment: RemoteEnvironment,
  { session, processId }: ProcessPlace,
  options: AttachOptions = { fromEnd: true, mayPause: false, keyboard: 'view' },
): Promise<ExecProcess> {
  return await environment.attach(processId, {
    ...(session === KEPT_SESSION ? {} : { sessionId: session }),
    ...options,
  });
}
