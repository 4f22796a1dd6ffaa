// Programs on this machine: output as it comes, input, exit codes, and an end for the whole tree.
import assert from 'node:assert/strict';
import { isExecError, openEnvironment } from 'execwire';

const env = await openEnvironment('local');
try {
  // Output arrives in order, with its stream; the last event is always `closed`.
  const greeter = await env.start({ argv: ['sh', '-c', 'echo hello; echo oops >&2; exit 3'] });
  const seen = [];
  for await (const event of greeter.events()) {
    seen.push(
      event.type === 'output' ? `${event.stream}: ${Buffer.from(event.bytes).toString()}` : event.type,
    );
  }
  // Two pipes have no order between them.
  assert.deepEqual(seen.slice(0, 2).sort(), ['stderr: oops\n', 'stdout: hello\n']);
  assert.deepEqual(seen.slice(2), ['exited', 'closed']);
  assert.deepEqual(await greeter.wait(), { kind: 'exited', exitCode: 3 });

  // Input is queued in order; closing it comes behind.
  const sorter = await env.start({ argv: ['sort'], pipeStdin: true });
  await sorter.write('pear\napple\n');
  await sorter.closeStdin();
  assert.equal(await sorter.text(), 'apple\npear\n');

  // A time limit ends everything the program started, however well hidden.
  const busy = await env.start({ argv: ['sh', '-c', 'setsid sleep 1000 & sleep 1000'], timeoutMs: 200 });
  assert.equal((await busy.wait()).kind, 'timedOut');

  // A program that cannot be started is an error with a code, not an exit.
  await assert.rejects(env.start({ argv: ['no-such-program'] }), (error) =>
    isExecError(error, 'spawnFailed'),
  );
} finally {
  await env.close();
}
console.log('run-locally: ok');
