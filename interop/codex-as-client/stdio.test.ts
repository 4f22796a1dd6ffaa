import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { processEnds } from '../harness/child.js';
import { runCodex } from '../harness/codex.js';
import { type ServerKind, markerName, servers } from '../harness/exec-server.js';
import {
  execCommand,
  readReport,
  runningSession,
  startCommand,
  writeStdin,
} from '../harness/model-script.js';
import { type RunDirectory, openRunDirectory } from '../harness/run-directory.js';

/** Without `include_local = false` a server that fails is silently replaced by this machine, and every case would pass. */
function environmentsToml(kind: ServerKind, run: RunDirectory, marker: string): string {
  const [program, ...args] = kind.argv('stdio');
  return `
default = "box"
include_local = false
[[environments]]
id = "box"
program = ${JSON.stringify(program)}
args = ${JSON.stringify(args)}
cwd = ${JSON.stringify(run.outside)}
env = { HOME = ${JSON.stringify(run.serverHome)}, CODEX_HOME = ${JSON.stringify(run.serverHome)}, ${markerName} = "${marker}" }
`;
}

describe.each(servers)('a $name server that Codex starts itself', (kind) => {
  // Others are reached over the network only.
  test.runIf(kind.way === undefined)('runs commands over stdio and ends with Codex', async () => {
    await using run = await openRunDirectory();
    const marker = randomUUID();
    let serverPid = 0;
    await runCodex({
      run,
      target: { environmentsToml: environmentsToml(kind, run, marker) },
      script: (async function* () {
        const report = readReport(yield execCommand(`echo "$${markerName}"; pwd; echo $PPID`));
        const [printedMarker, cwd, parent] = report.output.split('\n');
        expect([printedMarker, cwd]).toEqual([marker, run.workspace]);
        serverPid = Number(parent);

        const first = yield startCommand('read -r line; echo "got $line"', { tty: true });
        const second = readReport(yield writeStdin(runningSession(first), 'hello\n'));
        expect(second.exitCode).toBe(0);
        expect(second.output).toContain('got hello');
        return 'done';
      })(),
    });
    expect(serverPid).toBeGreaterThan(1);
    await processEnds(serverPid);
  });
});
