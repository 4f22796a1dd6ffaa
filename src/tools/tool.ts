import type { z } from 'zod';
import type { Environment } from '../contract/index.js';
import type { SessionTable } from './session/session-table.js';
import type { Tokenizer } from './text/tokenizer.js';

/** Hints for clients that ask people before they let a tool run. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What a tool answers. `text` is for the model; `structured` says the same to programs. */
export interface ToolResult {
  readonly text: string;
  /** Further sentences for the model that are not part of the answer proper. Usually none. */
  readonly notes: readonly string[];
  readonly structured: Readonly<Record<string, unknown>>;
  /** The tool could not do what was asked; `text` says why in a sentence. */
  readonly isError: boolean;
}

export interface Progress {
  readonly seconds: number;
  /** The last line of output. */
  readonly message: string;
}

/** What a caller may pass along with the arguments. */
export interface CallOptions {
  /** Cancels the call. A command that it started is interrupted, and killed if that does not end it. */
  readonly signal?: AbortSignal | undefined;
  /** Called about once a second while a command runs. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Settings of a toolbox, all decided. */
export interface ToolSettings {
  readonly tokenizer: Tokenizer;
  readonly maxLineChars: number;
  readonly env: Readonly<Record<string, string>>;
}

export interface ToolContext extends CallOptions {
  readonly environment: Environment;
  readonly sessions: SessionTable;
  readonly settings: ToolSettings;
}

/** A tool: how a model sees it, and what it does. */
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

/** Declares a tool; the arguments of `run` follow from `input`. */
export function tool<Input extends z.ZodObject>(declaration: Tool<Input>): Tool<Input> {
  return declaration;
}

/** An answer with nothing to add. */
export function answer(text: string, structured: Readonly<Record<string, unknown>>): ToolResult {
  return { text, notes: [], structured, isError: false };
}
