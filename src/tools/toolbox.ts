import { z } from 'zod';
import { ConfinedEnvironment, type Environment } from '../contract/index.js';
import { ExecError, isExecError, type Sandbox } from '../protocol/index.js';
import { allTools } from './all-tools.js';
import { DEFAULT_OUTPUT_TOKENS } from './arguments.js';
import { SessionTable, type SessionLimits } from './session/session-table.js';
import { byteTokenizer, type Tokenizer } from './text/tokenizer.js';
import type { CallOptions, Tool, ToolContext, ToolResult, ToolSettings } from './tool.js';

/** Longer lines are minified code and base64: they cost a lot and say nothing. */
const DEFAULT_MAX_LINE_CHARS = 2048;
/** A terminal that programs know, and no pager that waits for a key after every command. */
const DEFAULT_ENV = { TERM: 'xterm-256color', PAGER: 'cat', GIT_PAGER: 'cat', GH_PAGER: 'cat' };

export interface ToolboxOptions extends SessionLimits {
  /** Names of the tools to offer. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** Counts tokens for budgets. Default: four bytes each. */
  readonly tokenizer?: Tokenizer;
  /** Longer lines are shortened unless a call asks for raw output. */
  readonly maxLineChars?: number;
  /** Variables for every command, on top of the environment's own. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * What commands and file operations may touch. A command can ask for less, never for more. Default: what the
   * environment allows.
   */
  readonly sandbox?: Sandbox | null | undefined;
}

/** Tools for a model on some machine, with the sessions they started. Closing it ends those. */
export class Toolbox implements AsyncDisposable {
  readonly environment: Environment;
  readonly tools: readonly Tool[];
  readonly #sessions: SessionTable;
  readonly #settings: ToolSettings;

  constructor(environment: Environment, options: ToolboxOptions = {}) {
    this.environment = options.sandbox ? new ConfinedEnvironment(environment, options.sandbox) : environment;
    this.tools = selectTools(options.tools);
    const { tokenizer = byteTokenizer, maxLineChars = DEFAULT_MAX_LINE_CHARS } = options;
    this.#settings = { tokenizer, maxLineChars, env: { ...DEFAULT_ENV, ...options.env } };
    const live = { maxLineChars, tokenizer, viewTokens: DEFAULT_OUTPUT_TOKENS };
    this.#sessions = new SessionTable({ ...options, live });
  }

  /**
   * Runs a tool. The arguments are an object, or JSON as some model APIs hand them out. Whatever goes wrong comes back
   * as an answer with `isError`; only a cancelled call rejects.
   */
  async call(name: string, args: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const found = this.tools.find((tool) => tool.name === name);
    if (!found) return failure(`There is no tool named ${name}.`);
    const parsed = found.input.safeParse(decoded(args));
    if (!parsed.success) return failure(`The arguments of ${name} are wrong: ${firstIssue(parsed.error)}.`);
    const { environment } = this;
    const context: ToolContext = {
      ...options,
      environment,
      sessions: this.#sessions,
      settings: this.#settings,
    };
    try {
      return await found.run(parsed.data, context);
    } catch (error) {
      if (isExecError(error, 'aborted') && options.signal?.aborted) throw error;
      if (isExecError(error)) return failure(error.message, error.code);
      throw error;
    }
  }

  /** Ends every session. The environment stays open. Idempotent. */
  async close(): Promise<void> {
    await this.#sessions.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The answer of a tool as one text: what to send to a model that takes only that. */
export function resultText({ text, notes }: ToolResult): string {
  return notes.length === 0
    ? text
    : `${text.replace(/\n?$/, '\n')}${notes.map((note) => `Note: ${note}`).join('\n')}`;
}

/** All tools, or those named. An unknown name is the caller's mistake. */
function selectTools(names: readonly string[] | undefined): readonly Tool[] {
  if (names === undefined) return allTools;
  return names.map((name) => {
    const found = allTools.find((tool) => tool.name === name);
    if (!found) throw new ExecError('invalidConfiguration', `There is no tool named ${name}.`);
    return found;
  });
}

/** Models leave arguments out, or send them as text. What is no JSON is refused by the schema like any other text. */
function decoded(args: unknown): unknown {
  if (typeof args !== 'string') return args ?? {};
  try {
    return args.trim() === '' ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}

function failure(text: string, code = 'invalidParams'): ToolResult {
  return { text, notes: [], structured: { error: text, code }, isError: true };
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.join('.') || 'arguments'}: ${issue.message}` : 'unknown reason';
}
