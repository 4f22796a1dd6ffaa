import { ConfinedEnvironment, type Environment } from '../contract/index.js';
import { ExecError, isExecError, type ProcessLimits, type Sandbox } from '../protocol/index.js';
import { allTools } from './all-tools.js';
import { readArguments } from './argument-reading.js';
import { shownName } from './files/shown-name.js';
import { heldChanges } from './held-changes.js';
import { DEFAULT_OUTPUT_TOKENS } from './arguments.js';
import { SessionTable, type SessionLimits } from './session/session-table.js';
import { viewOutput } from './session/output-view.js';
import { byteTokenizer, tokensOfBytes, type Tokenizer } from './text/tokenizer.js';
import type { CallOptions, Tool, ToolContext, ToolResult, ToolSettings } from './tool.js';

/** Longer lines are mostly minified code and base64: expensive and useless to a model. */
const DEFAULT_MAX_LINE_CHARS = 2048;
/** 1 MiB: more than a conversation takes, less than a client chokes on. */
const KEPT_OUTPUT_TOKENS = tokensOfBytes(1024 ** 2);
/** A terminal type every program knows, and no pager waiting for a key. */
const DEFAULT_ENV = { TERM: 'xterm-256color', PAGER: 'cat', GIT_PAGER: 'cat', GH_PAGER: 'cat' };

export interface ToolboxOptions extends SessionLimits {
  /** Names of the tools to offer. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** Counts tokens for output budgets. Default: four bytes per token. */
  readonly tokenizer?: Tokenizer;
  /** Longer lines are cut unless a call asks for raw output. */
  readonly maxLineChars?: number;
  /** The directory commands run in unless they name another, and that relative paths refer to. Default: the environment's. */
  readonly cwd?: string | undefined;
  /** Environment variables for every command, added to the environment's own. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * What commands and file operations may access. A command can ask for less, never for more. Default: whatever the
   * environment allows.
   */
  readonly sandbox?: Sandbox | null | undefined;
  /** Bounds for each process of a command. Default: those of the machine. */
  readonly limits?: ProcessLimits | undefined;
  /**
   * Hold what commands and file tools change until it is applied: they all build on each other in one set, which
   * `environment.changes(toolbox.changesId)` lists, applies and discards, and the model has a tool to look at it. Needs a policy,
   * as `sandbox` or of the environment. Default: as the policy says.
   */
  readonly changes?: 'hold' | undefined;
}

/** Output that can be read again. */
export interface KeptOutput {
  readonly sessionId: number;
  /** What was printed so far, including what could not be kept. */
  readonly bytes: number;
}

/** Tools that let a model work on a machine. Closing the toolbox ends the sessions they started. */
export class Toolbox implements AsyncDisposable {
  readonly environment: Environment;
  readonly tools: readonly Tool[];
  /** The set that holds what the tools change; undefined if they change the files themselves. */
  readonly changesId: string | undefined;
  readonly #sessions: SessionTable;
  readonly #settings: ToolSettings;

  constructor(environment: Environment, options: ToolboxOptions = {}) {
    const sandbox = policyFor(environment, options);
    this.environment = sandbox ? new ConfinedEnvironment(environment, sandbox) : environment;
    this.changesId = this.environment.sandbox?.changesId;
    this.tools = selectTools(
      options.tools,
      this.changesId === undefined ? allTools : [...allTools, heldChanges],
    );
    const { tokenizer = byteTokenizer, maxLineChars = DEFAULT_MAX_LINE_CHARS } = options;
    const { cwd, limits } = options;
    const { changesId } = this;
    const env = { ...DEFAULT_ENV, ...options.env };
    this.#settings = { tokenizer, maxLineChars, cwd, limits, env, changesId };
    const live = { maxLineChars, tokenizer, viewTokens: DEFAULT_OUTPUT_TOKENS };
    this.#sessions = new SessionTable({ ...options, live });
  }

  /**
   * Runs a tool. `args` is an object, or JSON text as some model APIs return it. Errors come back as a result with
   * `isError`; only a cancelled call rejects.
   */
  async call(name: string, args: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const found = this.tools.find((tool) => tool.name === name);
    if (!found) return failure(`There is no tool named ${name}.`);
    const read = readArguments(found, args);
    if ('problem' in read) return failure(`Invalid arguments for ${name}: ${read.problem}.`);
    const { environment } = this;
    const context: ToolContext = {
      ...options,
      environment,
      sessions: this.#sessions,
      settings: this.#settings,
    };
    try {
      return withNotes(await found.run(read.args, context), read.notes);
    } catch (error) {
      if (isExecError(error, 'aborted') && options.signal?.aborted) throw error;
      if (isExecError(error)) return failure(sentenceOf(error, read.args), error.code);
      throw error;
    }
  }

  /** The sessions whose output can be read, oldest first. */
  keptOutput(): KeptOutput[] {
    return this.#sessions.all().map(({ id, transcript }) => ({ sessionId: id, bytes: transcript.end }));
  }

  /** What a session has printed, as text: beginning and end if it is more than 1 MiB. Null if there is no such session. */
  async readKeptOutput(sessionId: number): Promise<string | null> {
    const session = this.#sessions.all().find(({ id }) => id === sessionId);
    if (!session) return null;
    const { maxLineChars } = this.#settings;
    const options = { raw: false, maxLineChars, tokenizer: byteTokenizer, maxTokens: KEPT_OUTPUT_TOKENS };
    const { transcript } = session;
    return (await viewOutput(transcript, { ...options, from: 0, to: transcript.end })).text;
  }

  /** Ends every session. The environment stays open. Idempotent. */
  async close(): Promise<void> {
    await this.#sessions.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A tool result as a single text, for models that take nothing else. */
export function resultText({ text, notes }: ToolResult): string {
  return notes.length === 0
    ? text
    : `${text.replace(/\n?$/, '\n')}${notes.map((note) => `Note: ${note}`).join('\n')}`;
}

/** The policy of all calls; undefined for that of the environment. A policy that holds changes gets a set for all of them. */
function policyFor(
  environment: Environment,
  { sandbox, changes }: ToolboxOptions,
): Sandbox | null | undefined {
  const policy = sandbox ?? environment.sandbox;
  const holds = changes === 'hold' || policy?.changes === 'hold';
  if (!holds) return sandbox;
  if (!policy)
    throw new ExecError(
      'invalidConfiguration',
      'Changes can be held only under a policy; give the toolbox one.',
    );
  return { ...policy, changes: 'hold', changesId: policy.changesId ?? newChangesId() };
}

function newChangesId(): string {
  return `tools-${crypto.randomUUID().slice(0, 8)}`;
}

/** All tools, or the listed ones. Throws for an unknown name. */
function selectTools(names: readonly string[] | undefined, offered: readonly Tool[]): readonly Tool[] {
  if (names === undefined) return offered;
  return names.map((name) => {
    const found = offered.find((tool) => tool.name === name);
    if (!found) throw new ExecError('invalidConfiguration', `There is no tool named ${name}.`);
    return found;
  });
}

function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  return notes.length === 0 ? result : { ...result, notes: [...result.notes, ...notes] };
}

/** Errors of files do not say which one. */
function sentenceOf({ message }: ExecError, { path }: Record<string, unknown>): string {
  return typeof path === 'string' && /\(os error \d+\)$/.test(message)
    ? `${shownName(path)}: ${message}`
    : message;
}

function failure(text: string, code = 'invalidParams'): ToolResult {
  return { text, notes: [], structured: { error: text, code }, isError: true };
}
