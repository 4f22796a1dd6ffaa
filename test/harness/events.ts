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

/** Resolves when the process has printed a text, or had before. */
export async function untilPrinted(process: ExecProcess, text: string): Promise<void> {
  let end = '';
  for await (const event of process.events()) {
    if (event.type !== 'output') continue;
    const printed = end + Buffer.from(event.bytes).toString();
    if (printed.includes(text)) return;
    end = printed.slice(-text.length);
  }
  throw new Error(`It ended without ${text}.`);
}

/** Resolves with everything a process has printed once the text is in it. */
export async function printed(process: ExecProcess, text: string): Promise<string> {
  let all = '';
  for await (const event of process.events()) {
    if (event.type === 'output') all += Buffer.from(event.bytes).toString();
    if (all.includes(text)) return all;
  }
  throw new Error(`It ended without ${text}: ${all}`);
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
