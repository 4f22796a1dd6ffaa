/**
 * The tools as an MCP server.
 *
 * @module execwire/mcp
 */

export { type McpHttpOptions, type McpHttpServer, startMcpHttp } from './http.js';
export { createMcpServer, type McpServerOptions } from './mcp-server.js';
export { NetworkElicitation } from './network-elicitation.js';
export { type McpOptions, type McpStdioOptions, runMcpStdio } from './stdio.js';
