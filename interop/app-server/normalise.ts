import type { WireAnswer } from '../../testkit/wire-client.mjs';

/**
 * Error texts that quote the system or a decoder are each server's own: only how they begin is compared. Everything
 * else an error says is. `data` is not: only our errors carry it, as an extension.
 */
const OWN_WORDS =
  /^(Invalid request|failed to spawn \w+|invalid deltaBase64|invalid permission profile|Invalid clientInfo\.name|fs\/writeFile requires valid base64 dataBase64)(?:: .*)?$/s;
const OS_FAILURE = -32603;

/** What differs between any two plays of a case. */
interface Play {
  readonly run: { readonly root: string };
  readonly handle: string;
}

/** An answer without what differs between any two plays: its id, folders, the id of the case. */
export function normaliseAnswer({ result, error }: WireAnswer, play: Play): unknown {
  if (!error) return { result: normalise(result, play) };
  const begun = OWN_WORDS.exec(error.message)?.[1];
  const ownWords = begun !== undefined || error.code === OS_FAILURE;
  return { code: error.code, message: ownWords ? `${begun ?? ''}…` : normalise(error.message, play) };
}

/** The same value with the folder of the run called `$RUN` and the id of the case `$CASE`. */
export function normalise(value: unknown, play: Play): unknown {
  if (typeof value === 'string')
    return value.replaceAll(play.run.root, '$RUN').replaceAll(play.handle, '$CASE');
  if (Array.isArray(value)) return value.map((each) => normalise(each, play));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, normalise(each, play)]));
}
