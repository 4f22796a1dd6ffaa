import { ExecError } from '../../protocol/errors.js';

/** What JetStream answers if the last message on a subject is another one than we said. */
const WRONG_LAST_SEQUENCE = 10071;
/** Temporary states of a stream or of the cluster: no leader, not enough nodes, too busy. */
const PASSING_CODES: ReadonlySet<number> = new Set([408, 503, 10005, 10008, 10009, 10023, 10118]);

/** Another writer was first. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === WRONG_LAST_SEQUENCE;
}

/** The number of the last message on the subject, as the leader of the stream says with a conflict. */
export function lastSeqIn(error: unknown): number | undefined {
  const [, seq] = /wrong last sequence: (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  return seq === undefined ? undefined : Number(seq);
}

/** NATS does not let us do that. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'PermissionViolationError' || isRefusal(error.cause);
}

/** Whether trying again may help. While a stream has no leader, there is no answer, as if there were no JetStream. */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code !== undefined) return PASSING_CODES.has(code);
  return /timeout|not enabled|no responders|no leader|unavailable|disconnect|reconnect/i.test(
    `${error.name} ${error.message}`,
  );
}

function codeOf(error: unknown): number | undefined {
  const { code } = error instanceof Error ? (error as Error & { code?: unknown }) : { code: undefined };
  return typeof code === 'number' ? code : undefined;
}

export function noJetStream(): ExecError {
  return new ExecError(
    'unsupported',
    'These NATS servers have no JetStream, which the registry and jobs need: add `jetstream { store_dir: … }` to their configuration.',
  );
}

export function notPrepared(cause: unknown): ExecError {
  return new ExecError(
    'invalidConfiguration',
    'The fleet has no streams for its registry and its jobs yet: run `execwire fleet prepare` once, as an administrator.',
    { cause },
  );
}

export function noPermission(cause: unknown): ExecError {
  return new ExecError('notConnected', 'The fleet credentials in use do not allow that.', { cause });
}
