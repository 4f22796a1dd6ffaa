import type { ExecProcess, ProcessEvent } from '../../src/contract/index.js';

/** Events in a form that reads well in an expectation: output as `seq:text`. */
export async function story(process: ExecProcess): Promise<string[]> {
  const told: string[] = [];
  try {
    for await (const event of process.events()) told.push(tell(event));
  } catch (error) {
    told.push(`error ${(error as { code?: string }).code}`);
  }
  return told;
}

function tell(event: ProcessEvent): string {
  switch (event.type) {
    case 'output':
      return `${event.seq}:${Buffer.from(event.bytes).toString()}`;
    case 'gap':
      return `gap ${event.afterSeq + 1}-${event.beforeSeq - 1} ${event.lostBytes}`;
    case 'exited':
      return `${event.seq} exited ${event.exitCode}${event.timedOut ? ' timed out' : ''}`;
    case 'closed':
      return `${event.seq} closed`;
  }
}
