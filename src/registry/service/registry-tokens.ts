import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { ExecError } from '../../protocol/errors.js';
import { sha256 } from '../../transport/index.js';

const Bearer = z.strictObject({
  /** For logs, and for machines that tell clients apart. */
  name: z.string().regex(/^[A-Za-z0-9_.@-]{1,64}$/),
  /** What it presents, as a SHA-256 in hexadecimal digits. */
  token_sha256: z.string().regex(/^[0-9a-f]{64}$/i),
  /** The environments it may use. `*` stands for any text. */
  environments: z.array(z.string().regex(/^[A-Za-z0-9_.:@*-]{1,128}$/)),
});

const RegistryFile = z.strictObject({
  executors: z.array(Bearer).default([]),
  clients: z.array(Bearer).default([]),
});

/** Somebody who is known by a token. */
export interface TokenBearer {
  readonly name: string;
  readonly may: (environmentId: string) => boolean;
}

/** Who may register machines, and who may use them. */
export interface RegistryTokens {
  readonly executorOf: (token: string) => TokenBearer | undefined;
  readonly clientOf: (token: string) => TokenBearer | undefined;
}

/** Reads the tokens of a registry from a TOML file. */
export function readRegistryTokens(path: string): RegistryTokens {
  const { executors, clients } = parseTokens(path);
  return { executorOf: finder(executors), clientOf: finder(clients) };
}

function finder(bearers: readonly z.output<typeof Bearer>[]): (token: string) => TokenBearer | undefined {
  const entries = bearers.map(({ name, token_sha256, environments }) => ({
    digest: Buffer.from(token_sha256, 'hex'),
    bearer: { name, may: matcher(environments) },
  }));
  return (token) => {
    const digest = sha256(token);
    return entries.find((each) => timingSafeEqual(each.digest, digest))?.bearer;
  };
}

function matcher(patterns: readonly string[]): (environmentId: string) => boolean {
  return (id) => patterns.some((pattern) => isMatch(id, pattern.split('*')));
}

/** Whether a text consists of these parts, with anything between them. Takes no longer than the text is. */
function isMatch(text: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

function parseTokens(path: string): z.output<typeof RegistryFile> {
  try {
    return RegistryFile.parse(parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const why = issue ? `${issue.path.join('.')}: ${issue.message}` : 'it cannot be read as TOML';
    throw new ExecError('invalidConfiguration', `${path}: ${why}.`, { cause });
  }
}
