import { join } from 'node:path';
import { startParams } from './processes.mjs';
import { withClient, withOwnServer } from './own-server.mjs';

/** About as long as lines of logs are. */
const LINE = 'the quick brown fox jumps over the lazy dog; and again, as it does every day';
export const LINE_BYTES = LINE.length + 1;

/** A server with a process that has printed so many bytes of lines and sleeps; all of them are on disk. */
export async function withStoredLog(scratch, byteCount, work) {
  const room = ['--spool-bytes', String(2 * byteCount), '--spool-total-bytes', String(4 * byteCount)];
  return await withOwnServer(['--spool', join(scratch, 'stored'), ...room], (server) =>
    withClient(server, async (client) => {
      const print = `yes '${LINE}' | head -c ${byteCount}; exec sleep 1000`;
      const params = startParams(['/bin/sh', '-c', print], { retain: 'disk' });
      await Promise.all([client.output(byteCount), client.request('process/start', params)]);
      return await work({ ...server, client, processId: params.processId });
    }),
  );
}
