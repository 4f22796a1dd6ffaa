import type { ExitedEvent } from '../contract/index.js';
import type { ExecResult } from '../protocol/index.js';

/** What an exit says that only our clients expect. */
export function exitExtras({
  changesFull,
  networkDenied,
  usage,
}: ExitedEvent): Pick<ExecResult<'process/wait'>, 'changesFull' | 'networkDenied' | 'usage'> {
  return {
    ...(changesFull ? { changesFull } : {}),
    ...(networkDenied ? { networkDenied: [...networkDenied] } : {}),
    ...(usage ? { usage } : {}),
  };
}
