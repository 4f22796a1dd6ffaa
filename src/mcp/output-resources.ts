import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  McpError,
  type ReadResourceResult,
  ReadResourceRequestSchema,
  type Resource,
} from '@modelcontextprotocol/sdk/types.js';
import type { KeptOutput, Toolbox } from '../tools/index.js';

const MIME_TYPE = 'text/plain';
const TEMPLATE = 'execwire://session/{session_id}/output';
const URI = /^execwire:\/\/session\/(\d{1,15})\/output$/;

/** Offers the output of sessions as resources, for people who attach it to a conversation and for programs. */
export function offerOutput({ server }: McpServer, toolbox: Toolbox): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: toolbox.keptOutput().map(resource),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      {
        uriTemplate: TEMPLATE,
        name: 'session-output',
        title: 'Output of a session',
        description:
          'What a command has printed so far. Its beginning and its end, if it is more than 1 MiB.',
        mimeType: MIME_TYPE,
      },
    ],
  }));
  server.setRequestHandler(
    ReadResourceRequestSchema,
    async ({ params: { uri } }): Promise<ReadResourceResult> => {
      const [, id] = URI.exec(uri) ?? [];
      const text = id === undefined ? null : await toolbox.readKeptOutput(Number(id));
      if (text === null) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}.`, { uri });
      return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
    },
  );
}

function resource({ sessionId, bytes }: KeptOutput): Resource {
  return {
    uri: TEMPLATE.replace('{session_id}', String(sessionId)),
    name: `session-${sessionId}-output`,
    title: `Output of session ${sessionId}`,
    mimeType: MIME_TYPE,
    size: bytes,
  };
}
