import type Anthropic from '@anthropic-ai/sdk';
import { ToolSchema, type Tool as McpSdkTool } from '@modelcontextprotocol/sdk/types.js';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/index.js';
import {
  anthropicTools,
  mcpTools,
  openAiChatTools,
  openAiResponsesTools,
  Toolbox,
} from '../../src/tools/index.js';

// The compiler is the test here: `npm run check:types` fails when a definition no longer fits its SDK.
test('tool definitions fit the official SDKs', async () => {
  await using environment = new LocalEnvironment();
  await using toolbox = new Toolbox(environment);
  const { tools } = toolbox;

  const messages: Anthropic.MessageCreateParams['tools'] & object = anthropicTools(tools);
  const plain: Anthropic.Tool[] = anthropicTools(tools);
  const responses: OpenAI.Responses.Tool[] = openAiResponsesTools(tools);
  const functions: OpenAI.Responses.FunctionTool[] = openAiResponsesTools(tools);
  const chat: OpenAI.Chat.ChatCompletionTool[] = openAiChatTools(tools);
  const mcp: McpSdkTool[] = mcpTools(tools);

  const names = tools.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  for (const list of [messages, plain, responses, functions, chat, mcp])
    expect(list).toHaveLength(names.length);
  // What the MCP SDK itself accepts at run time.
  expect(mcp.map((tool) => ToolSchema.parse(tool).name)).toEqual(names);
  for (const { input_schema } of plain) expect(input_schema.type).toBe('object');
});
