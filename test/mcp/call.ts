import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

/** The answer to a call, as tests read it. */
export interface Answer {
  readonly text: string;
  readonly notes: readonly string[];
  readonly data: Record<string, unknown>;
  readonly isError: boolean;
}

export async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Answer> {
  const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  const [text = '', ...notes] = result.content.map((part) => (part.type === 'text' ? part.text : ''));
  return { text, notes, data: result.structuredContent ?? {}, isError: result.isError ?? false };
}
