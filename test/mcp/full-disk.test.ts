import { describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { call } from './call.js';
import { connectStdio } from './clients.js';

const KIB = 1024;

/** Ways in which output finds no room on disk. `$1` is where it is kept; what follows is the command. */
const fullDisks = [
  {
    name: 'a full disk',
    wrapper: ['unshare', '--map-root-user', '--mount', 'sh', '-c'],
    script: 'mount -t tmpfs -o size=512k none "$1" && shift && exec "$@"',
  },
  {
    name: 'a limit on the size of files',
    wrapper: ['bash', '-c'],
    script: 'ulimit -f 512; shift; exec "$@"',
  },
];

/** A first line, a long middle, and a last line. */
const LONG = 'echo first needle; seq 1 400000; echo last';

describe.each(fullDisks)('$name', ({ wrapper, script }) => {
  test('every view of an output says how much of it is missing', async () => {
    using folder = new TestFolder();
    await using connected = await connectStdio({
      wrapper: [...wrapper, script, 'sh', folder.path],
      env: { TMPDIR: folder.path },
    });
    const { client } = connected;
    const started = await call(client, 'exec_command', { cmd: LONG, login: false, yield_time_ms: 30_000 });
    expect(started.data).toMatchObject({ running: false, exit_code: 0 });
    const session = { session_id: started.data['session_id'] };
    const views = {
      noMatch: { grep: 'no such text' },
      match: { grep: 'needle' },
      tail: { tail: 1 },
      range: { from: 2, to: 3 },
      beyond: { from: 9_000_000 },
      raw: { grep: 'no such text', raw: true },
    };
    for (const [name, view] of Object.entries(views)) {
      const { text, data } = await call(client, 'read_output', { ...session, ...view });
      const lost = Number(data['lost_bytes']);
      const named = text.includes(`\nWarning: ${lost} bytes of this output could not be kept`);
      expect({ name, loss: isLoss(lost), named }).toEqual({ name, loss: true, named: true });
    }
    const { text } = await call(client, 'read_output', { ...session, tail: 1 });
    expect(text).toMatch(/\nlast\n$/);
    const { data } = await call(client, 'list_sessions', {});
    expect(data['sessions']).toEqual([expect.objectContaining({ lost_bytes: expect.toSatisfy(isLoss) })]);
  });
});

function isLoss(bytes: number): boolean {
  return bytes > 1000 * KIB;
}
