import { z } from 'zod';
import { ExecError } from '../protocol/errors.js';
import { isServerUrl, LOCAL_ID, NONE_ID, SERVER_URLS } from './environment-names.js';

export { isServerUrl, LOCAL_ID, NONE_ID };

/** A machine reached over a WebSocket, or in a fleet. */
export interface UrlEnvironment {
  readonly id: string;
  readonly url: string;
  readonly authBearerToken?: string;
  /** A file that holds the token; read with each connection. */
  readonly tokenFile?: string;
  /** A program and its arguments; prints the token. Run with each connection. */
  readonly tokenCommand?: readonly string[];
  /** Sent as `x-request-id` with every connection. */
  readonly websocketRequestId?: string;
  readonly connectTimeoutMs?: number;
  readonly initializeTimeoutMs?: number;
}

/** A machine reached by starting a program that speaks the protocol on stdin and stdout. */
export interface ProgramEnvironment {
  readonly id: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Added to our own variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly initializeTimeoutMs?: number;
}

export type EnvironmentConfig = UrlEnvironment | ProgramEnvironment;

/** The configured environments, and the one to use by default. */
export interface EnvironmentsConfig {
  readonly environments: readonly EnvironmentConfig[];
  readonly includeLocal: boolean;
  /** An id, or null if there is no default. */
  readonly defaultId: string | null;
}

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

const Text = z.string('must be a string in quotes');
const NonEmpty = Text.min(1, 'must not be empty');
const Texts = z.array(Text, 'must be a list of strings: ["one", "two"]');
const Seconds = z.number('must be a number of seconds').positive('must be more than 0');
const TOKEN_KEYS = ['auth_bearer_token', 'token_file', 'token_command'] as const;

/** The keys of one `[[environments]]` block, the same as Codex's. */
const Entry = z
  .strictObject({
    id: Text.regex(idPattern, 'must be 1 to 64 letters, digits, "-" or "_"'),
    url: Text.optional(),
    auth_bearer_token: NonEmpty.optional(),
    // These two are ours.
    token_file: NonEmpty.optional(),
    token_command: Texts.min(1, 'must name a program').optional(),
    program: NonEmpty.optional(),
    args: Texts.optional(),
    env: z.record(z.string(), Text, 'must be a table of strings').optional(),
    cwd: Text.optional(),
    connect_timeout_sec: Seconds.optional(),
    initialize_timeout_sec: Seconds.optional(),
    // Belongs to another program that reads the same file.
    skills: z.unknown().optional(),
  })
  .superRefine((entry, context) => {
    const complain = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (entry.id === LOCAL_ID || entry.id === NONE_ID) complain('id', `"${entry.id}" is reserved`);
    if ((entry.url === undefined) === (entry.program === undefined)) {
      complain(entry.url === undefined ? 'id' : 'url', 'exactly one of `url` and `program` is required');
    }
    if (entry.url !== undefined && !isServerUrl(entry.url)) complain('url', `must begin with ${SERVER_URLS}`);
    for (const key of ['args', 'env', 'cwd'] as const) {
      if (entry.program === undefined && entry[key] !== undefined) complain(key, 'only goes with `program`');
    }
    for (const key of [...TOKEN_KEYS, 'connect_timeout_sec'] as const) {
      if (entry.url === undefined && entry[key] !== undefined) complain(key, 'only goes with `url`');
    }
    const [, second] = TOKEN_KEYS.filter((key) => entry[key] !== undefined);
    if (second !== undefined) complain(second, `only one of ${TOKEN_KEYS.join(', ')} can be given`);
  });

/** The keys of a block, and those of the file. */
export const ENTRY_KEYS: readonly string[] = Object.keys(Entry.shape).filter((key) => key !== 'skills');
export const FILE_KEYS: readonly string[] = ['default', 'include_local', 'environments'];

/** The whole file. */
export const EnvironmentsFile = z
  .strictObject({
    default: Text.optional(),
    include_local: z.boolean('must be true or false').default(true),
    environments: z.array(Entry, 'must be [[environments]] blocks').default([]),
  })
  .superRefine((file, context) => {
    const seen = new Set<string>();
    for (const [index, { id }] of file.environments.entries()) {
      if (seen.has(id)) {
        context.addIssue({
          code: 'custom',
          path: ['environments', index, 'id'],
          message: `"${id}" occurs twice`,
        });
      }
      seen.add(id);
    }
    const known = file.default === NONE_ID || (file.default === LOCAL_ID && file.include_local);
    if (file.default !== undefined && !known && !seen.has(file.default)) {
      context.addIssue({ code: 'custom', path: ['default'], message: `"${file.default}" is not configured` });
    }
  });

/** Converts the file's keys to ours. Without an explicit default, it is this machine if included, else none. */
export function configFromFile(file: z.output<typeof EnvironmentsFile>): EnvironmentsConfig {
  const fallback = file.include_local ? LOCAL_ID : null;
  return {
    environments: file.environments.map(entryConfig),
    includeLocal: file.include_local,
    defaultId: file.default === NONE_ID ? null : (file.default ?? fallback),
  };
}

function entryConfig(entry: z.output<typeof Entry>): EnvironmentConfig {
  const { id, url, program, args, env, cwd } = entry;
  const initialize =
    entry.initialize_timeout_sec === undefined
      ? {}
      : { initializeTimeoutMs: entry.initialize_timeout_sec * 1000 };
  if (program !== undefined) {
    return {
      id,
      program,
      args: args ?? [],
      env: env ?? {},
      ...(cwd === undefined ? {} : { cwd }),
      ...initialize,
    };
  }
  return {
    id,
    url: url ?? '',
    ...(entry.auth_bearer_token === undefined ? {} : { authBearerToken: entry.auth_bearer_token }),
    ...(entry.token_file === undefined ? {} : { tokenFile: entry.token_file }),
    ...(entry.token_command === undefined ? {} : { tokenCommand: entry.token_command }),
    ...(entry.connect_timeout_sec === undefined
      ? {}
      : { connectTimeoutMs: entry.connect_timeout_sec * 1000 }),
    ...initialize,
  };
}

/** Checks an id given at run time. */
export function assertEnvironmentId(id: string): void {
  if (!idPattern.test(id) || id === LOCAL_ID || id === NONE_ID) {
    throw new ExecError(
      'invalidConfiguration',
      `"${id.slice(0, 64)}" cannot name an environment: use 1 to 64 letters, digits, "-" or "_"; "local" and "none" are taken.`,
    );
  }
}
