import { RemoteEnvironment } from '../../client/index.js';
import { formatJson, printable } from '../terminal/table.js';
import { closeTarget, openTarget } from '../options/target-options.js';

/** Prints a machine's description of itself. */
export async function describeEnvironment(options: {
  environment: string | undefined;
  tokenFile?: string;
  json?: boolean;
}): Promise<void> {
  const { environment: id, json, ...target } = options;
  const environment = await openTarget({ ...target, ...(id === undefined ? {} : { environment: id }) });
  try {
    const info = await environment.info();
    const offers = environment instanceof RemoteEnvironment ? environment.client.serverCapabilities : null;
    if (json) {
      process.stdout.write(formatJson({ id: environment.id, ...info, extensions: offers }));
      return;
    }
    const lines = [
      ['environment', environment.id],
      ['system', info.platformOs],
      ['shell', info.shell.path],
      ['directory', readable(info.cwd)],
      ['home', readable(info.userHomeDir)],
      ['temporary', readable(info.tempDir)],
      ['version', info.executorVersion],
      ['extensions', offers === null ? undefined : Object.keys(offers).join(' ') || 'none'],
    ].filter((line): line is [string, string] => line[1] !== undefined);
    process.stdout.write(
      lines.map(([name, value]) => `${`${name}:`.padEnd(13)}${printable(value)}\n`).join(''),
    );
  } finally {
    await closeTarget(environment);
  }
}

/** A `file:` URI as a plain path, if it has one. */
function readable(uri: string | null | undefined): string | undefined {
  if (uri == null) return undefined;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
