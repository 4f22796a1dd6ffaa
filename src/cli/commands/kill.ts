import { constants } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { RemoteEnvironment, ServerProcess } from '../../client/index.js';
import type { SignalName } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { isMachine, onMachine } from '../habits/machine-argument.js';
import { parseDuration } from '../options/option-values.js';
import { withServer } from './processes.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** How long a program may take to end after SIGTERM. */
const DEFAULT_GRACE_MS = 5_000;

interface KillFlags extends TargetFlags {
  readonly session?: string;
  readonly grace: number;
  readonly signal?: SignalName;
}

/** `execwire kill`: ends processes on a server. */
export function killCommand(): Command {
  return withTarget(new Command('kill'))
    .summary('end processes on a server')
    .description(
      'End processes on a server, and everything they started: SIGTERM first, SIGKILL if that does not help.\n\n' +
        'With -9 or -s KILL, they are killed at once. Any other signal is sent and nothing more: -HUP, -s INT.',
    )
    .argument(
      '<id...>',
      'process ids or pids, as shown by `execwire ps`; for kept processes, the beginning of the id is enough; a machine in front of them is the same as -e',
    )
    .option('-s, --signal <signal>', 'send this signal: TERM, SIGINT, 9', parseSignal)
    .option('--session <id>', 'only in this session; a prefix of its id is enough')
    .addOption(
      new Option('--grace <time>', 'how long they may take to end after SIGTERM: 500ms, 30s')
        .argParser(parseDuration)
        .default(DEFAULT_GRACE_MS, '5s'),
    )
    .action(kill);
}

/** `kill box ID`: a machine in front of ids. An id alone is an id. */
async function splitKillWords(
  words: readonly string[],
  { environment }: KillFlags,
): Promise<{ machine?: string; ids: readonly string[] }> {
  const [first = '', ...others] = words;
  if (environment !== undefined || others.length === 0 || !(await isMachine(first))) return { ids: words };
  return { machine: first, ids: others };
}

/** `TERM`, `SIGTERM`, `term` or a number. */
function parseSignal(text: string): SignalName {
  const upper = text.toUpperCase();
  const wanted = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  const found = Object.entries(constants.signals).find(
    ([name, number]) => name === wanted || String(number) === text,
  );
  if (!found) throw new InvalidArgumentError('Use a name such as TERM or SIGINT, or a number such as 9.');
  // Every name in this table begins with SIG.
  return found[0] as SignalName;
}

async function kill(words: string[], flags: KillFlags): Promise<void> {
  const { machine, ids } = await splitKillWords(words, flags);
  await withServer(onMachine(machine, flags), async (server) => {
    const rows = await server.listServer();
    // Finds all before ending any: a mistake in the list must change nothing.
    const found = ids.map((id) => findProcess(rows, id, flags.session));
    await Promise.all(found.map((row) => end(server, row, flags)));
  });
}

async function end(
  server: RemoteEnvironment,
  { processId, sessionId }: ServerProcess,
  { signal, grace }: KillFlags,
): Promise<void> {
  if (signal === 'SIGKILL') await server.terminateOnServer({ processId, sessionId });
  else if (signal === undefined || signal === 'SIGTERM')
    await server.terminateOnServer({ processId, sessionId, graceMs: grace });
  else await server.signalOnServer({ processId, sessionId, signal });
}

function findProcess(rows: readonly ServerProcess[], id: string, session = ''): ServerProcess {
  const shown = id.slice(0, 64);
  const all = rows.filter(({ sessionId }) => sessionId.startsWith(session));
  const inSession = all.filter(({ closed }) => !closed);
  const exact = inSession.filter(({ processId }) => processId === id);
  const byPid = inSession.filter(({ pid }) => String(pid) === id);
  // Ids of kept processes are typed by people: their beginning is enough.
  const begun = inSession.filter((row) => row.lease !== undefined && row.processId.startsWith(id));
  const [found, another] = [exact, byPid, begun].find((matches) => matches.length > 0) ?? [];
  if (!found) {
    const hasEnded = all.some(({ processId, closed }) => closed && processId === id);
    throw new ExecError(
      'processNotFound',
      hasEnded
        ? `The process "${shown}" has ended already.`
        : `No process "${shown}" is running on that server; \`execwire ps\` lists them.`,
    );
  }
  if (another) {
    throw new ExecError(
      'processNotFound',
      exact.length > 0
        ? `Several sessions have a process "${shown}"; choose with --session.`
        : `Several kept processes begin with "${shown}"; type more of the id.`,
    );
  }
  return found;
}
