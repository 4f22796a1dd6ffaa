import { z } from 'zod';
import type { Tool, ToolAnnotations } from './tool.js';

/** An object's JSON Schema, in the shape the official SDKs expect. */
export interface JsonSchema {
  type: 'object';
  properties?: Record<string, object>;
  required?: string[];
  [keyword: string]: unknown;
}

export interface OpenAiResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** Strict mode would make every argument required. */
  readonly strict: false;
}

export interface OpenAiChatTool {
  readonly type: 'function';
  readonly function: Omit<OpenAiResponsesTool, 'type' | 'strict'>;
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
}

/** Tool definitions for the OpenAI Responses API. */
export function openAiResponsesTools(tools: readonly Tool[]): OpenAiResponsesTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: inputSchema(tool),
    strict: false,
  }));
}

/** Tool definitions for the OpenAI Chat Completions API. */
export function openAiChatTools(tools: readonly Tool[]): OpenAiChatTool[] {
  return tools.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: inputSchema(tool) },
  }));
}

/** Tool definitions for the Anthropic Messages API. */
export function anthropicTools(tools: readonly Tool[]): AnthropicTool[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: inputSchema(tool),
  }));
}

export interface McpToolsOptions {
  /** Also describe structured results. Default: false, since clients then show a model JSON instead of the text. */
  readonly structured?: boolean | undefined;
}

/** Tool definitions as an MCP server lists them. */
export function mcpTools(tools: readonly Tool[], { structured = false }: McpToolsOptions = {}): McpTool[] {
  return tools.map((tool) => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchema(tool),
    ...(structured ? { outputSchema: schemaOf(tool.output, 'output') } : {}),
    annotations: tool.annotations,
  }));
}

/** The description of a tool's arguments for a model. Every word costs tokens, so it contains what a call needs and no more. */
function inputSchema(tool: Tool): JsonSchema {
  const { properties = {}, ...schema } = schemaOf(tool.input, 'input');
  const shown = Object.entries(properties).filter(([, property]) => !('hidden' in property));
  return { ...schema, properties: Object.fromEntries(shown.map(([name, each]) => [name, shorten(each)])) };
}

/** The facts about an argument besides its name. */
export interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly isRequired: boolean;
}

/** The arguments of a tool by name, also those that models are not shown. */
export function propertiesOf(tool: Tool): ReadonlyMap<string, Property> {
  const { properties = {}, required = [] } = schemaOf(tool.input, 'input');
  return new Map(
    Object.entries(properties).map(([name, each]) => [
      name,
      { ...each, isRequired: required.includes(name) },
    ]),
  );
}

const BOUNDS: ReadonlySet<string> = new Set(['minimum', 'maximum', 'minLength', 'maxLength']);

/**
 * Without bounds: a call that breaks one gets an error that says so. Defaults are words, too, because some clients drop the
 * keyword.
 */
function shorten(property: object): object {
  const shown = Object.fromEntries(Object.entries(property).filter(([keyword]) => !BOUNDS.has(keyword)));
  const { default: fallback, description } = shown as {
    default?: string | number | boolean;
    description?: string;
  };
  if (fallback === undefined || fallback === '') return shown;
  const value = `Default ${fallback}`;
  return { ...shown, description: description === undefined ? value : `${description} ${value}` };
}

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, override: dropIntegerLimits });
  // The schema of an object always has `type: 'object'`; the library's return type does not say so.
  return rest as JsonSchema;
}

/** Drops the safe-integer limits, which tell nobody anything. */
function dropIntegerLimits({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
