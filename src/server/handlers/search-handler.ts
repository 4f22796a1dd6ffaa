import type { FileSystem } from '../../contract/index.js';
import { type ExecParsedParams, type ExecResult, fileUri } from '../../protocol/index.js';
import type { ConnectionContext } from './connection-context.js';
import { wirePath } from './wire-path.js';

/** `fs/search`; aborted when the connection ends. */
export async function searchFiles(
  params: ExecParsedParams<'fs/search'>,
  context: ConnectionContext & { files: FileSystem },
): Promise<ExecResult<'fs/search'>> {
  const { matches, cursor } = await context.files.search(wirePath(params.path), {
    pattern: params.pattern,
    regex: params.regex ?? false,
    caseSensitive: params.caseSensitive ?? true,
    globs: params.globs ?? [],
    hidden: params.hidden ?? false,
    ...(params.maxMatches == null ? {} : { maxMatches: params.maxMatches }),
    cursor: params.cursor ?? null,
    sandbox: params.sandbox ?? null,
    signal: context.signal,
  });
  return { matches: matches.map((match) => ({ ...match, path: fileUri(match.path) })), cursor };
}
