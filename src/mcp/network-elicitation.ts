import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { NetworkAnswer, NetworkQuestion } from '../contract/index.js';
import { HOST_ANSWER_LIMIT_MS } from '../protocol/host-questions.js';

const ANSWERS: readonly NetworkAnswer[] = ['once', 'session', 'deny'];

/**
 * Asks the person at an MCP client about hosts. Pass `ask` to the environment as `onNetworkRequest`, and this object to the
 * MCP server.
 */
export class NetworkElicitation {
  /** Clients and their calls that are not answered, the one that called last at the end. */
  readonly #servers = new Map<McpServer, Set<RequestId>>();

  /**
   * Returns what to call once the call is answered.
   *
   * @internal
   */
  called(server: McpServer, request: RequestId): () => void {
    const open = this.#servers.get(server) ?? new Set();
    for (const each of this.#servers.keys())
      if (each === server || !each.isConnected()) this.#servers.delete(each);
    this.#servers.set(server, open.add(request));
    return () => void open.delete(request);
  }

  /** Throws if no client can be asked. Declining to answer, or closing the question, denies the host. */
  readonly ask = async ({ host, port }: NetworkQuestion): Promise<NetworkAnswer> => {
    const mayBeAsked = ([mcp]: [McpServer, unknown]): boolean =>
      mcp.isConnected() && mcp.server.getClientCapabilities()?.elicitation !== undefined;
    const [asked, open] = [...this.#servers].findLast(mayBeAsked) ?? [];
    if (!asked) throw new Error('No client can be asked.');
    // Over HTTP, it is part of the answer to a call, as long as there is one.
    const [relatedRequestId] = [...(open ?? [])].slice(-1);
    const { action, content } = await asked.server.elicitInput(question(`${host}:${port}`), {
      timeout: HOST_ANSWER_LIMIT_MS,
      ...(relatedRequestId === undefined ? {} : { relatedRequestId }),
    });
    const answer = ANSWERS.find((each) => each === content?.['answer']);
    return action === 'accept' && answer !== undefined ? answer : 'deny';
  };
}

function question(target: string): Parameters<McpServer['server']['elicitInput']>[0] {
  return {
    message: `A command wants to reach ${target}, for which the network policy has no rule. Allow it?`,
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: target,
          enum: [...ANSWERS],
          enumNames: ['This connection', 'This host, for the session', 'Deny'],
        },
      },
      required: ['answer'],
    },
  };
}
