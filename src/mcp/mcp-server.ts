import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool as ListedTool,
} from '@modelcontextprotocol/sdk/types.js';
import { type CallOptions, mcpTools, type Toolbox, type ToolResult } from '../tools/index.js';
import { instructionsFor } from './instructions.js';
import { offerOutput } from './output-resources.js';
import type { NetworkElicitation } from './network-elicitation.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface McpServerOptions {
  /** The server version reported to clients. */
  readonly version: string;
  /**
   * Also send results as `structuredContent`. Default: false, since clients that find it show a model that JSON, which
   * is three times as long, instead of the text.
   */
  readonly structured?: boolean | undefined;
  /** Asks the person at the client about hosts that a network policy does not know. Default: they are denied. */
  readonly network?: NetworkElicitation | undefined;
}

/** Creates an MCP server for the tools, ready to connect to a transport. */
export function createMcpServer(toolbox: Toolbox, options: McpServerOptions): McpServer {
  const { version, structured, network } = options;
  const mcp = new McpServer(
    { name: 'execwire', title: 'Execwire', version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: instructionsFor({ holds: toolbox.changesId !== undefined }),
    },
  );
  // The tools validate their own arguments and explain mistakes. The SDK's low-level server leaves that to them.
  const { server } = mcp;
  const tools = mcpTools(toolbox.tools, { structured }) as unknown as ListedTool[];
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const answered = network?.called(mcp, extra.requestId);
    try {
      return toMcp(await toolbox.call(params.name, params.arguments, callOptions(extra)), options);
    } finally {
      answered?.();
    }
  });
  offerOutput(mcp, toolbox);
  return mcp;
}

/** Cancelling the request cancels the call. A client that sent a progress token gets progress notifications. */
function callOptions({ signal, _meta, sendNotification }: Extra): CallOptions {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { signal };
  return {
    signal,
    onProgress: ({ seconds, message }) => {
      const params = { progressToken, progress: Number(seconds.toFixed(1)), message };
      // The client may be gone.
      sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

function toMcp({ text, notes, structured, isError }: ToolResult, options: McpServerOptions): CallToolResult {
  const content = [text, ...notes].map((each) => ({ type: 'text' as const, text: each }));
  if (isError) return { content, isError: true };
  return options.structured ? { content, structuredContent: { ...structured } } : { content };
}
