import { base64, type ConformanceCase, shell, startParams } from '../case.js';
import { same } from '../verdict.js';

/** What processes do that outlive their session, on servers that offer it. */
export const leaseCases: readonly ConformanceCase[] = [
  {
    name: 'lease/attach',
    says: 'Where leases are offered, a kept process survives its session; another one attaches, types and waits.',
    reconnects: true,
    async run(context) {
      const first = await context.open();
      const { capabilities } = await first.call('initialize', { clientName: 'conformance' });
      first.send('{"method":"initialized","params":{}}');
      if (!Object(capabilities).leases) return;
      const processId = `conformance-${Date.now()}`;
      const script = 'read a; echo $a; read b; echo $b; exit 3';
      const more = { pipeStdin: true, lease: 60_000 };
      await first.call('process/start', startParams(context, processId, shell(script), more));
      await first.call('process/write', { processId, writeId: '1', chunk: base64('one\n') });
      await first.says(processId, 'one');
      first.send('{"method":"session/end","params":{}}');
      first.close();
      await first.untilClosed();
      const second = await context.ready();
      const attached = await second.call('process/attach', { processId });
      same('attach', [attached['tty'], attached['lease'], attached['afterSeq']], [false, 60_000, 0]);
      await second.says(processId, 'one');
      const waiting = second.call('process/wait', { processId });
      await second.call('process/write', { processId, writeId: '1', chunk: base64('two\n') });
      const { exitCode, signal, timedOut } = await waiting;
      same('end', [exitCode, signal, timedOut], [3, null, false]);
      const again = await second.call('process/wait', { processId });
      same('end, asked again', again['exitCode'], 3);
      same('detach', await second.call('process/detach', { processId }), {});
    },
  },
  {
    name: 'processes/details',
    says: 'Where details are offered, a client sees the processes of its other sessions with arguments and details.',
    async run(context) {
      const first = await context.open();
      const { sessionId, capabilities } = await first.call('initialize', { clientName: 'conformance' });
      first.send('{"method":"initialized","params":{}}');
      if (!Object(capabilities).processDetails) return;
      const argv = shell('read stay');
      await first.call('process/start', startParams(context, 'shown', argv, { pipeStdin: true }));
      const second = Object(capabilities).sessionViewers ? await context.ready() : first;
      const { processes } = await second.call('process/list', { scope: 'server', details: true });
      const row = Object((processes as object[]).find((each) => Object(each).sessionId === sessionId));
      same('argv', row.argv, argv);
      same('details', [row.details?.clientName, row.details?.endedAtMs], ['conformance', null]);
      if (second !== first) {
        const attached = await second.call('process/attach', { processId: 'shown', sessionId });
        same('lease', attached['lease'], 'session');
      }
      await second.call('process/write', { processId: 'shown', writeId: '1', chunk: base64('go\n') });
      same('end', (await second.call('process/wait', { processId: 'shown' }))['exitCode'], 0);
    },
  },
];
