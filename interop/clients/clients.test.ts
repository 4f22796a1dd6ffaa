import { describe, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { processEnds } from '../harness/child.js';
import { leavePid, readPid } from '../harness/gate.js';
import { openRunDirectory } from '../harness/run-directory.js';
import { mcpClients } from './clients.js';
import { converse, messages } from './conversation.js';
import type { Script } from './scripted-model.js';

const exec = (cmd: string, args: object = {}) => ({
  tool: 'exec_command',
  args: { cmd, yield_time_ms: 30_000, ...args },
});

/** The text of one of our answers: some clients wrap it, none shows anything else. */
const answered = (output: string): unknown =>
  expect.stringMatching(
    new RegExp(
      `^(<untrusted_context>\\n)?(Wall time: [\\d.]+ seconds\\nOutput:)?Exit code 0( after [\\d.]+ s)?\\n${output}`,
    ),
  );

describe.for(mcpClients.map((client) => [client.name, client] as const))('%s', ([, client]) => {
  test('adds the server by the documented line, calls, waits, survives a restart, and cancels', async () => {
    await using run = await openRunDirectory();
    let server = await ServerProcess.start();
    const { url } = server;
    const seen: string[] = [];
    async function* script(): Script {
      seen.push(yield exec('echo "from $0"', { login: false }));
      seen.push(yield exec('for i in 1 2 3 4; do echo line $i; sleep 0.5; done'));
      await server.stop('SIGKILL');
      server = await ServerProcess.start({ args: ['--listen', url] });
      seen.push(yield exec('echo after the restart'));
      yield exec(`${leavePid}; exec sleep 1000`, { workdir: run.workspace });
      return 'done';
    }
    const { child, model } = await converse(client, script(), { run, url });
    await using _model = model;
    await using _child = child;
    try {
      const pid = await readPid(run.workspace);
      const [early, calls] = await Promise.all([messages(run, 'to-client'), messages(run, 'to-server')]);
      // Whoever presses Ctrl-C in the client expects the command to end.
      await child.stop();
      await processEnds(pid);
      expect(seen).toEqual([
        answered('from /bin/bash\n'),
        answered('line 1\nline 2\nline 3\nline 4\n'),
        answered('after the restart\n'),
      ]);
      const long = calls.filter(({ method }) => method === 'tools/call')[1];
      const progress = early.filter(({ method }) => method === 'notifications/progress');
      expect(progress.map(({ params }) => params?.progressToken)).toContain(
        long?.params?._meta?.progressToken,
      );
    } catch (error) {
      const said = `${JSON.stringify(seen)}\n${child.stdout}${child.stderr}`;
      throw new Error(`${String(model.failure ?? error)}\n${said}`, { cause: error });
    } finally {
      await server.stop();
    }
  });
});
