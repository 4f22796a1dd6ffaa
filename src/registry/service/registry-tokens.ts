import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { ExecError } from '../../protocol/errors.js';
import { whyUnreadable } from '../../protocol/file-failure.js';
import { digestOf } from './secret.js';

const Bearer = z.strictObject({
  /** For logs, and for machines that tell clients apart. */
  name: z.string().regex(/^[A-Za-z0-9_.@-]{1,64}$/),
  /** The SHA-256 of the token, in hexadecimal digits. */
  token_sha256: z.string().regex(/^[0-9a-f]{64}$/i),
  /** The environments it may use. `*` stands for any text. */
  environments: z.array(z.string().regex(/^[A-Za-z0-9_.:@*-]{1,128}$/)),
});

const RegistryFile = z.strictObject({
  executors: z.array(Bearer).default([]),
  clients: z.array(Bearer).default([]),
});

/** The bearer of a known token. Its permissions can change. */
export interface TokenBearer {
  readonly name: string;
  may(environmentId: string): boolean;
}

/** Who may register machines, and who may use them. */
export interface RegistryTokens {
  executorOf(token: string): TokenBearer | undefined;
  clientOf(token: string): TokenBearer | undefined;
}

/** The tokens of a registry, from a TOML file. */
export class RegistryTokenFile implements RegistryTokens {
  readonly #path: string;
  readonly #executors = new Bearers();
  readonly #clients = new Bearers();

  constructor(path: string) {
    this.#path = path;
    this.reload();
  }

  /** Reads the file again. Tokens that are gone lose all permissions. If the file is invalid, nothing changes. */
  reload(): void {
    const { executors, clients } = parseTokens(this.#path);
    this.#executors.become(executors);
    this.#clients.become(clients);
  }

  executorOf(token: string): TokenBearer | undefined {
    return this.#executors.find(token);
  }

  clientOf(token: string): TokenBearer | undefined {
    return this.#clients.find(token);
  }
}

/** Bearers by token. Each is the same object as long as the file has its token, because others hold references to it. */
class Bearers {
  readonly #byDigest = new Map<string, { name: string; may: (environmentId: string) => boolean }>();

  become(entries: readonly z.output<typeof Bearer>[]): void {
    const wanted = new Map(entries.toReversed().map((entry) => [entry.token_sha256.toLowerCase(), entry]));
    for (const [digest, bearer] of this.#byDigest) {
      if (wanted.has(digest)) continue;
      bearer.may = () => false;
      this.#byDigest.delete(digest);
    }
    for (const [digest, { name, environments }] of wanted) {
      const current = { name, may: matcher(environments) };
      const known = this.#byDigest.get(digest);
      if (known) Object.assign(known, current);
      else this.#byDigest.set(digest, current);
    }
  }

  /** Looks up a digest, so that timing does not reveal how much of a guess was right. */
  find(token: string): TokenBearer | undefined {
    return this.#byDigest.get(digestOf(token));
  }
}

function matcher(patterns: readonly string[]): (environmentId: string) => boolean {
  return (id) => patterns.some((pattern) => isMatch(id, pattern.split('*')));
}

/** Whether a text consists of these parts with anything in between, in linear time. */
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
    const why = issue
      ? `${issue.path.join('.')}: ${issue.message}`
      : (whyUnreadable(cause) ?? 'it is not valid TOML');
    throw new ExecError('invalidConfiguration', `Cannot read ${path}: ${why}.`, { cause });
  }
}
