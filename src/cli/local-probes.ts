import { fileURLToPath } from 'node:url';
import type { Environment } from '../contract/index.js';
import { openChosen } from '../environment/open-environment.js';
import { type HostCapabilities, hostCapabilities } from '../host/index.js';
import type { Diagnosis, Probe } from './diagnosis.js';

/** How processes of this machine are started and found again. Nothing to measure, but something to know. */
export function describeHost(capabilities: HostCapabilities = hostCapabilities()): Diagnosis[] {
  const { backend, lineage, subreaper, watchdog } = capabilities;
  const trees = lineage === 'mark' && subreaper && watchdog;
  return [
    {
      layer: 'backend',
      verdict: backend === 'posixSpawn' ? 'ok' : 'slow',
      ms: null,
      hint:
        backend === 'posixSpawn'
          ? null
          : 'posix_spawn is not available here: no terminals, and every start costs more the larger the server is.',
    },
    {
      layer: 'process trees',
      verdict: trees ? 'ok' : 'slow',
      ms: null,
      hint: trees
        ? null
        : 'Processes that leave their session and their parent are not found when their tree is killed.',
    },
  ];
}

/** bubblewrap, and whether this machine lets it confine anything. */
export function sandboxProbe(environment: Environment): Probe {
  return {
    layer: 'sandbox',
    slowMs: 200,
    slowHint: 'Entering the sandbox takes long; sandboxed commands pay for it each time.',
    measure: async () => {
      const began = performance.now();
      await using child = await environment.start({
        argv: ['bwrap', '--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', '--proc', '/proc', 'true'],
      });
      const [end, complaint] = await Promise.all([child.wait(), firstLine(child.stderr)]);
      if (end.kind === 'exited' && end.exitCode === 0) return performance.now() - began;
      throw new Error(`bubblewrap cannot confine here: ${complaint || 'it gave no reason'}`);
    },
  };
}

/** A server of ours from its start to its first answer, over stdio. */
export function serverProbe(): Probe {
  return {
    layer: 'server start',
    slowMs: 1_500,
    slowHint: 'A server takes long until it answers; over ssh this adds to every connection.',
    measure: async () => {
      const bin = fileURLToPath(new URL('../../bin/execwire.js', import.meta.url));
      const args = [bin, 'serve', '--listen', 'stdio', '--log-level', 'silent'];
      const began = performance.now();
      await using _server = await openChosen({ id: 'doctor', program: process.execPath, args, env: {} });
      return performance.now() - began;
    },
  };
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  return (await new Response(stream).text()).trim().split('\n', 1)[0] ?? '';
}
