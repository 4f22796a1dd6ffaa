import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { ExecError } from '../../protocol/errors.js';
import { requireName } from '../subjects.js';

/** How to reach a fleet, and as whom. */
export interface FleetSettings {
  /** NATS servers: `nats://HOST:PORT` or `tls://HOST:PORT`. One is enough; it names the others. */
  readonly servers: readonly string[];
  /** Which fleet is meant, where a NATS account carries several. Permissions end at its border. Default `default`. */
  readonly fleet?: string | undefined;
  /** Our identity: the name in our credentials. Default `anyone`, for NATS servers without authentication. */
  readonly identity?: string | undefined;
  /** The machines our credentials give access to. Default: all. */
  readonly machines?: readonly string[] | undefined;
  /** An nkey seed. */
  readonly nkey?: string | undefined;
  /** The text of a NATS credentials file. */
  readonly credentials?: string | undefined;
  /** PEM file with the certificate authorities to trust. */
  readonly caFile?: string | undefined;
}

export const DEFAULT_FLEET = 'default';
export const DEFAULT_IDENTITY = 'anyone';

const SettingsFile = z.strictObject({
  servers: z.array(z.string()).min(1),
  fleet: z.string().optional(),
  identity: z.string().optional(),
  machines: z.array(z.string()).optional(),
  nkey: z.string().optional(),
  credentials: z.string().optional(),
  ca: z.string().optional(),
});

/** Whether a text names NATS servers rather than a settings file. */
function isBusUrl(text: string): boolean {
  return /^(nats|tls):\/\/./.test(text);
}

/** Reads settings: a list of `nats://` URLs separated by commas, or the path of a settings file. */
export function readFleetSettings(source: string): FleetSettings {
  if (isBusUrl(source)) return checked({ servers: source.split(',').map((each) => each.trim()) });
  const text = readText(source, `Cannot read the fleet settings in ${source}.`);
  const { ca, credentials, ...rest } = parseSettings(text, source);
  const beside = (path: string): string => resolve(dirname(source), path);
  const unreadable = `Cannot read the credentials named in ${source}.`;
  return checked({
    ...rest,
    caFile: ca === undefined ? undefined : beside(ca),
    credentials: credentials === undefined ? undefined : readText(beside(credentials), unreadable),
  });
}

function parseSettings(text: string, source: string): z.output<typeof SettingsFile> {
  try {
    return SettingsFile.parse(parse(text));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const reason = issue ? `${issue.path.join('.') || 'file'}: ${issue.message}` : 'it is not TOML';
    throw new ExecError('invalidConfiguration', `${source}: ${reason}.`, { cause });
  }
}

function readText(path: string, problem: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ExecError('invalidConfiguration', problem, { cause });
  }
}

function checked(settings: FleetSettings): FleetSettings {
  const { servers, fleet = DEFAULT_FLEET, identity = DEFAULT_IDENTITY } = settings;
  for (const server of servers) {
    if (!isBusUrl(server) || !URL.canParse(server))
      throw new ExecError(
        'invalidConfiguration',
        'NATS servers are given as nats://HOST:PORT or tls://HOST:PORT.',
      );
  }
  requireName(fleet, 'The name of the fleet');
  requireName(identity, 'The identity');
  return settings;
}
