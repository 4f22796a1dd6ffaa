import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/transport/index.js';
import { serve } from '../harness/serve.js';

const UPGRADE =
  'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** Short enough to end the test soon after the server has let go. */
const RETRY_MS = 20;

describe('somebody who is refused', () => {
  test('holds no connection by not closing his end', async () => {
    await using server = await serve({ auth: { mode: 'capability-token', tokenSha256: sha256('secret') } });
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket.on('data', (data: Buffer) => {
      answer += data.toString();
    });
    socket.write(UPGRADE);
    await once(socket, 'end');
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    // Once nobody is there any more, whatever is sent comes back as an error.
    const timer = setInterval(() => socket.write('still here'), RETRY_MS);
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      socket.once('error', resolve);
    });
    clearInterval(timer);
    expect(['EPIPE', 'ECONNRESET']).toContain(error.code);
  });
});
