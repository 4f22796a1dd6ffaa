import type { z } from 'zod';
import type { Environment } from '../contract/index.js';
import type { ProcessLimits } from '../protocol/index.js';
import type { SessionTable } from './session/session-table.js';
import type { Tokenizer } from './text/tokenizer.js';

/** Hints for clients that ask the user before they run a tool. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The result of a tool call. `text` is for the model; `structured` holds the same for programs. */
export interface ToolResult {
  readonly text: string;
  /** Hints for the model that are not part of the answer itself. Usually empty. */
  readonly notes: readonly string[];
  readonly structured: Readonly<Record<string, unknown>>;
  /** The call failed; `text` explains why in one sentence. */
  readonly isError: boolean;
}

export interface Progress {
  readonly seconds: number;
  /** The last line of output. */
  readonly message: string;
}

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call. The command it started is interrupted, then killed if it does not end. */
  readonly signal?: AbortSignal | undefined;
  /** Called about once a second while a command runs. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A toolbox's settings, defaults filled in. */
export interface ToolSettings {
  readonly tokenizer: Tokenizer;
  readonly maxLineChars: number;
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits | undefined;
  /** The set in which changes are held, if they are. */
  readonly changesId: string | undefined;
}

export interface ToolContext extends CallOptions {
  readonly environment: Environment;
  readonly sessions: SessionTable;
  readonly settings: ToolSettings;
}

/** A tool: its definition for the model, and its implementation. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  /** @internal */
  run(args: z.output<Input>, context: ToolContext): Promise<ToolResult>;
}

/** Declares a tool. The type of `run`'s arguments is inferred from `input`. */
export function tool<Input extends z.ZodObject>(declaration: Tool<Input>): Tool<Input> {
  return declaration;
}

/** A successful result without notes. */
export function answer(text: string, structured: Readonly<Record<string, unknown>>): ToolResult {
  return { text, notes: [], structured, isError: false };
}
