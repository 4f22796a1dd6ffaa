import { base64, type ConformanceCase, shell, startParams } from '../case.js';
import { holds, same } from '../verdict.js';
import { outputOf } from '../wire.js';

/** More than servers retain for a process without a reader. */
const EVICTING_BYTES = 3_000_000;

/** What the protocol leaves open but users rely on. */
export const promiseCases: readonly ConformanceCase[] = [
  {
    name: 'promise/no-waiting-behind-a-read',
    says: 'A waiting read does not delay other requests.',
    async run(context) {
      const wire = await context.ready();
      await wire.call('process/start', startParams(context, 'p', ['sleep', '60']));
      const reading = wire.post('process/read', { processId: 'p', waitMs: 1_500 });
      await wire.call('environment/status');
      holds('the answer waited for the read', !wire.answers.some(({ id }) => id === reading));
      await wire.call('process/terminate', { processId: 'p' });
    },
  },
  {
    name: 'promise/loss-is-told',
    says: 'Output dropped before it was read is counted where it is missing.',
    async run(context) {
      const wire = await context.ready();
      const argv = ['head', '-c', String(EVICTING_BYTES), '/dev/zero'];
      await wire.call('process/start', startParams(context, 'p', argv));
      await wire.story('p');
      const { chunks } = await wire.call('process/read', { processId: 'p' });
      let bytes = 0;
      for (const { chunk, lostBytes = 0 } of chunks as { chunk: string; lostBytes?: number }[])
        bytes += Buffer.from(chunk, 'base64').length + lostBytes;
      same('bytes accounted for', bytes, EVICTING_BYTES);
    },
  },
  {
    name: 'promise/terminal-exit-code',
    says: 'Death by signal n is exit code 128 + n, also on a terminal.',
    async run(context) {
      const wire = await context.ready();
      await wire.call('process/start', startParams(context, 'p', shell('kill -TERM $$'), { tty: true }));
      const events = await wire.story('p');
      same('exit code', events.find(({ method }) => method === 'process/exited')?.params['exitCode'], 143);
    },
  },
  {
    name: 'promise/terminal-directory',
    says: 'A start in a missing directory is refused, also on a terminal.',
    async run(context) {
      const wire = await context.ready();
      const cwd = `${context.directory}/none`;
      const params = startParams(context, 'p', ['true'], { tty: true, cwd });
      same('code', await wire.refusal('process/start', params), -32603);
    },
  },
  {
    name: 'promise/terminal-arg0',
    says: 'arg0 changes the name of a program, not the program, also on a terminal.',
    async run(context) {
      const wire = await context.ready();
      const params = startParams(context, 'p', shell('echo $0'), { tty: true, arg0: 'another-name' });
      await wire.call('process/start', params);
      same('name', outputOf(await wire.story('p')), 'another-name\r\n');
    },
  },
  {
    name: 'promise/copy-onto-itself',
    says: 'Copying a file onto itself does not empty it.',
    async run(context) {
      const wire = await context.ready();
      const path = `${context.directory}/itself`;
      await wire.call('fs/writeFile', { path, dataBase64: base64('content') });
      await wire.ask('fs/copy', { sourcePath: path, destinationPath: path, recursive: false });
      same('content', await wire.call('fs/readFile', { path }), { dataBase64: base64('content') });
    },
  },
];
