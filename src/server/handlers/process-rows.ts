import type { ProcessDetails, ProcessSummary } from '../../contract/index.js';
import type { LocalProcess } from '../../host/index.js';
import { type ExecParsedParams, type ExecResult, KEPT_SESSION } from '../../protocol/index.js';
import { fileUri } from '../../protocol/file-uri.js';
import type { Session } from '../session.js';
import type { ProcessContext } from './process-context.js';

/** Terminals checked for waiting input, for one list. Each check looks at several processes. */
const MAX_INSPECTED = 256;

type Rows = ExecResult<'process/list'>;

interface Listed {
  readonly process: LocalProcess;
  readonly row: ProcessSummary & { readonly sessionId?: string };
  /** Whether it belongs to the client that asks. */
  readonly isOwn: boolean;
}

/** Answers `process/list`. */
export function listProcesses(
  context: ProcessContext,
  params: ExecParsedParams<'process/list'>,
): Rows | Promise<Rows> {
  const listed = params?.scope === 'server' || context.share ? ofServer(context) : ofSession(context);
  if (context.share) return { processes: listed.map(({ row }) => withoutSecrets(row)) };
  if (params?.details) return detailed(listed);
  // Clients that do not ask for details see arguments of their own session only.
  const own = context.session().id;
  const isShown = ({ row: { sessionId = own } }: Listed): boolean =>
    sessionId === own || sessionId === KEPT_SESSION;
  return { processes: listed.map((each) => (isShown(each) ? each.row : onlyProgram(each.row))) };
}

function ofSession({ session }: ProcessContext): Listed[] {
  const kept = session().kept.all();
  return [
    ...rowsOf(session()),
    ...kept.map((each) => ({ process: each.process, row: each.summary(), isOwn: true })),
  ];
}

/** The processes of all sessions, and the kept ones of this client. */
function ofServer({ session, sessions, keep, principal, share }: ProcessContext): Listed[] {
  const isOwn = (each: Session): boolean =>
    each === session() || (principal !== undefined && each.principal === principal);
  const inSessions = sessions.all().flatMap((each) =>
    rowsOf(each).map(({ process, row }) => ({
      process,
      row: { ...row, sessionId: each.id },
      isOwn: isOwn(each),
    })),
  );
  const kept = keep.all().map((each) => ({
    process: each.process,
    row: { ...each.summary(), sessionId: KEPT_SESSION },
    isOwn: true,
  }));
  return share ? kept : [...inSessions, ...kept];
}

function rowsOf(session: Session): Listed[] {
  return session.processes.all().map((process) => ({ process, row: process.summary(), isOwn: true }));
}

async function detailed(listed: readonly Listed[]): Promise<Rows> {
  const waiting = await waitingForInput(listed);
  return {
    processes: listed.map(({ process, row, isOwn }) =>
      isOwn ? { ...row, details: detailsOf(process, waiting) } : onlyProgram(row),
    ),
  };
}

async function waitingForInput(listed: readonly Listed[]): Promise<ReadonlyMap<LocalProcess, boolean>> {
  const terminals = listed.filter(({ process, isOwn }) => isOwn && process.tty && !process.log.exit);
  const newest = terminals.sort((a, b) => b.process.startedAtMs - a.process.startedAtMs);
  const known = new Map<LocalProcess, boolean>();
  for (const { process } of newest.slice(0, MAX_INSPECTED)) {
    const state = await process.inspect();
    if (state) known.set(process, state.waitsForInput);
  }
  return known;
}

function detailsOf(process: LocalProcess, waiting: ReadonlyMap<LocalProcess, boolean>): ProcessDetails {
  const { cwd, startedBy: clientName, sandboxType, recorded, log, run } = process;
  const { signal = null, timedOut = false } = log.exit ?? {};
  return {
    ...(cwd === undefined ? {} : { cwd: fileUri(cwd) }),
    clientName,
    sandboxType,
    recorded,
    endedAtMs: run.endedAtMs,
    signal,
    timedOut,
    outputBytes: log.totalBytes,
    ...(run.usage ? { usage: run.usage } : {}),
    waitsForInput: waiting.get(process) ?? null,
  };
}

/** Arguments of others may contain secrets. */
function onlyProgram<Row extends ProcessSummary>(row: Row): Row {
  return { ...row, argv: row.argv.slice(0, 1) };
}

/** The row that the bearer of a share sees. */
function withoutSecrets<Row extends ProcessSummary>(row: Row): Row {
  return { ...onlyProgram(row), pid: null };
}
