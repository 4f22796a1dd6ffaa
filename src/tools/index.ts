/**
 * Tools for models over any environment, and their definitions for the common APIs.
 *
 * @module execwire/tools
 */

export {
  type AnthropicTool,
  anthropicTools,
  type JsonSchema,
  type McpTool,
  type McpToolsOptions,
  mcpTools,
  type OpenAiChatTool,
  type OpenAiResponsesTool,
  openAiChatTools,
  openAiResponsesTools,
} from './definitions.js';
export { DEFAULT_MAX_SESSIONS, type SessionLimits } from './session/session-table.js';
export type { SpoolLimits, TranscriptOptions } from './session/transcript.js';
export { DEFAULT_SPOOL_QUOTA_BYTES, SpoolQuota } from '../spool/index.js';
export { type Budgeted, BudgetedText, truncateMiddle } from './text/budgeted-text.js';
export { byteTokenizer, type Tokenizer } from './text/tokenizer.js';
export type { CallOptions, Progress, Tool, ToolAnnotations, ToolResult } from './tool.js';
export { type KeptOutput, resultText, Toolbox, type ToolboxOptions } from './toolbox.js';
