import { type ConformanceCase, shell, startParams } from '../case.js';
import { same } from '../verdict.js';

/** What servers tell about the past of a process, where they offer it. */
export const historyCases: readonly ConformanceCase[] = [
  {
    name: 'history/pieces',
    says: 'Where a history is offered, it holds output and resizes with their times, piece by piece, up to the end.',
    async run(context) {
      const wire = await context.open();
      const { capabilities } = await wire.call('initialize', { clientName: 'conformance' });
      wire.send('{"method":"initialized","params":{}}');
      if (!Object(capabilities).history) return;
      const script = 'stty -echo; echo one; read x; stty size; exit 3';
      const more = { tty: true, size: { rows: 10, cols: 40 }, retain: 'disk' };
      await wire.call('process/start', startParams(context, 'h', shell(script), more));
      await wire.says('h', 'one');
      await wire.call('process/resize', { processId: 'h', size: { rows: 12, cols: 50 } });
      await wire.call('process/write', { processId: 'h', writeId: '1', chunk: 'Cg==' });
      const told: string[] = [];
      let position: unknown;
      let timeMs = 0;
      for (let pieces = 0; pieces < 100; pieces += 1) {
        const page: Record<string, unknown> = await wire.call('process/history', {
          processId: 'h',
          maxBytes: 1,
          waitMs: 5_000,
          position: position ?? null,
        });
        same('first size', page['size'], { rows: 10, cols: 40 });
        for (const event of Object(page['events'])) {
          same('times do not run backwards', event.timeMs >= timeMs, true);
          timeMs = event.timeMs;
          if (event.type === 'output') told.push(Buffer.from(event.chunk, 'base64').toString());
          else told.push(`[${event.type} ${event.size?.cols}x${event.size?.rows}]`);
        }
        ({ position } = page);
        if (!page['complete']) continue;
        same('exit code', Object(page['end']).exitCode, 3);
        break;
      }
      same('what happened', told.join(''), 'one\r\n[resize 50x12]12 50\r\n');
    },
  },
];
