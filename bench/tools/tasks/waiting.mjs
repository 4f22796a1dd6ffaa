import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';

const ERROR_LINE = 'ERROR disk quota exceeded on volume 7';
const NEVER = /(?!)/;

const DEV_SERVER = `
import socket, sys, time
for module in range(1, 46):
    print("compiling module", module, flush=True)
    time.sleep(0.1)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready on port", sys.argv[1], flush=True)
while True:
    server.accept()[0].sendall(b"hello")
`;

export const devServer = {
  name: 'dev-server',
  title: 'dev server until its port opens',
  async prepare(folder) {
    writeFileSync(join(folder, 'serve.py'), DEV_SERVER);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    server.close();
    return { port };
  },
  async ours(tools, { folder, port }) {
    const cmd = `python3 serve.py ${port}`;
    const { session_id } = await tools.call('exec_command', { cmd, workdir: folder, yield_time_ms: 0 });
    await tools.call('wait_for', { session_id, port });
    const answer = await greeting(port);
    await tools.call('kill_session', { session_id, max_output_tokens: 0 });
    return answer;
  },
  async naive(tools, { folder, port }) {
    const { id } = await tools.lookUntil(await tools.start(`python3 ${folder}/serve.py ${port}`), /ready/);
    const answer = await greeting(port);
    await tools.kill(id);
    return answer;
  },
  verify: (answer) => assert.equal(answer, 'hello'),
};

async function greeting(port) {
  const socket = connect(port, '127.0.0.1');
  const [bytes] = await once(socket, 'data');
  socket.destroy();
  return bytes.toString();
}

/** A service that writes on its own, whoever watches. */
const SERVICE = `
for i in $(seq 1 90); do echo "INFO request $i served in $((i % 9)) ms" >> app.log; sleep 0.05; done
echo "${ERROR_LINE}" >> app.log
`;

export const followLog = {
  name: 'follow-log',
  title: 'tail -f of a log until a pattern',
  prepare: (folder) => writeFileSync(join(folder, 'service.sh'), SERVICE),
  async ours(tools, { folder }) {
    const cmd = ': > app.log; bash service.sh & tail -f app.log';
    const { session_id } = await tools.call('exec_command', { cmd, workdir: folder, yield_time_ms: 0 });
    const { match } = await tools.call('wait_for', { session_id, pattern: '^ERROR' });
    await tools.call('kill_session', { session_id, max_output_tokens: 0 });
    return match;
  },
  async naive(tools, { folder }) {
    const started = await tools.start(`cd ${folder}; : > app.log; bash service.sh & tail -f app.log`);
    const { id, text } = await tools.lookUntil(started, /^ERROR/m);
    await tools.kill(id);
    return text.split(/\r?\n/).find((line) => line.startsWith('ERROR'));
  },
  verify: (answer) => assert.equal(answer, ERROR_LINE),
};

const QUIET = 'sleep 8.5; echo checksum 3f7a; exit 3';

export const quietJob = {
  name: 'quiet-job',
  title: 'long quiet job waited on until its exit',
  async ours(tools) {
    const { session_id } = await tools.call('exec_command', { cmd: QUIET, yield_time_ms: 1000 });
    return (await tools.call('wait_for', { session_id })).text;
  },
  naive: async (tools) => (await tools.lookUntil(await tools.start(QUIET), NEVER)).text,
  verify: (answer) => assert.match(answer, /(?:exited with|Exit) code 3[\s\S]*checksum 3f7a/),
};

// The trap ends it wherever ^C finds it: a shell whose child ends by itself at that moment goes on otherwise.
const RUNAWAY =
  'trap "exit 130" INT; echo $$ > pid; while :; do echo "retrying the connection"; sleep 0.005; done';

export const runaway = {
  name: 'runaway',
  title: 'Ctrl-C of a runaway',
  async ours(tools, { folder }) {
    const start = { cmd: RUNAWAY, workdir: folder, yield_time_ms: 2000 };
    const { session_id } = await tools.call('exec_command', start);
    return (await tools.call('write_stdin', { session_id, chars: '\u0003', yield_time_ms: 10_000 })).text;
  },
  async naive(tools, { folder }) {
    const { id } = await tools.start(`cd ${folder}; ${RUNAWAY}`);
    await tools.look(id);
    return (await tools.lookUntil(await tools.type(id, '\u0003'), NEVER)).text;
  },
  verify(answer, { folder }) {
    assert.match(answer, /(?:exited with|Exit) code 130/);
    assert.ok(!existsSync(`/proc/${readFileSync(join(folder, 'pid'), 'utf8').trim()}`));
  },
};
