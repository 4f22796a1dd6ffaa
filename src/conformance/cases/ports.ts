import { base64, type ConformanceCase, shell, startParams } from '../case.js';
import { same } from '../verdict.js';
import { outputOf, type Wire } from '../wire.js';

/** Listens on a free port, says which, and answers one line with another. Without Python it ends. */
const LISTEN = `
exec python3 -c '
import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
print(server.getsockname()[1], flush=True)
peer = server.accept()[0]
peer.sendall(b"heard " + peer.makefile("rb").readline())
peer.shutdown(socket.SHUT_WR)
peer.recv(1)
'`;

/** Who listens where, and connections to it, on servers that offer it. */
export const portCases: readonly ConformanceCase[] = [
  {
    name: 'ports/connect',
    says: 'Where ports are offered, a listening port is listed with its process, and a connection carries bytes both ways.',
    async run(context) {
      const wire = await context.open();
      const { capabilities } = await wire.call('initialize', { clientName: 'conformance' });
      wire.send('{"method":"initialized","params":{}}');
      if (!Object(capabilities).ports) return;
      await wire.call('process/start', startParams(context, 'listener', shell(LISTEN)));
      const port = await portOf(wire, 'listener');
      if (port === null) return;
      const { ports } = await wire.call('port/list', null);
      same('listed', rowsOf(ports), [[port, 'listener', false]]);
      const streamId = 'one';
      const connected = await wire.call('port/connect', { streamId, port });
      same('connected', [connected['processId'], connected['sandboxed']], ['listener', false]);
      const chunk = base64('you\n');
      wire.send(JSON.stringify({ method: 'port/data', params: { streamId, offset: 0, chunk } }));
      const { params } = await wire.until('an answer of the program', () =>
        wire.notifications.find(({ method }) => method === 'port/data'),
      );
      same(
        'answer',
        [params['streamId'], params['offset'], params['chunk']],
        ['one', 0, base64('heard you\n')],
      );
    },
  },
];

/** The port that the program says; null if there is no Python to run it. */
async function portOf(wire: Wire, processId: string): Promise<number | null> {
  return await wire.until('a port', () => {
    const own = wire.notifications.filter(({ params }) => params.processId === processId);
    const [, port] = /^(\d+)\n/.exec(outputOf(own, 'stdout')) ?? [];
    if (port !== undefined) return Number(port);
    return own.some(({ method }) => method === 'process/closed') ? null : undefined;
  });
}

function rowsOf(ports: unknown): unknown[] {
  return (ports as Record<string, unknown>[]).map((row) => [row['port'], row['processId'], row['sandboxed']]);
}
