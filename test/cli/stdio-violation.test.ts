import { once } from 'node:events';
import { expect, test } from 'vitest';
import { bin, launch } from '../../testkit/launch.mjs';

test.each([[['app-server']], [['serve', '--listen', 'stdio']]])(
  '%j says why it ends when a client on stdio sends what is no text',
  async (words) => {
    const child = launch([process.execPath, bin, ...words], { env: { EXECWIRE_HOME: '/nonexistent' } });
    const closed = once(child, 'close');
    const said = child.stderr.toArray();
    child.stdout.resume();
    child.stdin.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    await closed;
    expect(Buffer.concat(await said).toString()).toContain('a line is not UTF-8');
  },
);
