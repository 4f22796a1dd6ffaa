/** What a scripted model says: a call of a tool, or its last word. */
export type Reply =
  | { readonly tool: string; readonly args: object; readonly callId: string }
  | { readonly text: string };

/** One model API as a client speaks it. */
export interface Dialect {
  /** The paths at which the client talks to its model. */
  readonly path: RegExp;
  /** What the client reports about a call; undefined if it reports nothing. */
  reported(request: never, callId: string): string | undefined;
  /** The server-sent events of an answer. Without a name, they are data only. */
  events(reply: Reply): { readonly event?: string; readonly data: object | string }[];
  /** The tools on offer. */
  definitions(request: never): { readonly name: string }[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
}

function textOf(content: string | readonly Block[] | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text ?? '').join('');
}

/** Claude Code. */
export const messagesApi: Dialect = {
  path: /^\/v1\/messages(?:\?|$)/,
  definitions: ({ tools = [] }: { tools?: { name: string }[] }) => tools,
  reported({ messages }: { messages: { content: string | Block[] }[] }, callId) {
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const found = blocks.find(({ type, tool_use_id }) => type === 'tool_result' && tool_use_id === callId);
    return found && textOf(found.content);
  },
  events(reply) {
    const isCall = 'tool' in reply;
    const block = isCall
      ? { type: 'tool_use', id: reply.callId, name: reply.tool, input: {} }
      : { type: 'text', text: '' };
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(reply.args) }
      : { type: 'text_delta', text: reply.text };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = {
      id: 'message',
      type: 'message',
      role: 'assistant',
      model: 'script',
      content: [],
      usage,
    };
    const stop = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null };
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage },
      { type: 'message_stop' },
    ].map((data) => ({ event: data.type, data }));
  },
};

interface Item {
  readonly type: string;
  readonly call_id?: string;
  readonly output?: string | readonly Block[];
}

/** Codex. The tools of a server share a namespace, and a model finds them with a search. */
export const responsesApi: Dialect = {
  path: /^\/v1\/responses$/,
  definitions: ({ tools = [] }: { tools?: { name: string }[] }) => tools,
  reported({ input }: { input: Item[] }, callId) {
    const found = input.find(({ type, call_id }) => type.endsWith('_output') && call_id === callId);
    return found && textOf(found.output);
  },
  events(reply) {
    const [name = '', namespace] = 'tool' in reply ? reply.tool.split('/').toReversed() : [];
    const item =
      'tool' in reply
        ? {
            type: 'function_call',
            namespace,
            name,
            call_id: reply.callId,
            arguments: JSON.stringify(reply.args),
          }
        : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: reply.text }] };
    const usage = {
      input_tokens: 0,
      input_tokens_details: null,
      output_tokens: 0,
      output_tokens_details: null,
    };
    return [
      { type: 'response.created', response: { id: 'response' } },
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response: { id: 'response', usage: { ...usage, total_tokens: 0 } } },
    ].map((data) => ({ event: data.type, data }));
  },
};

interface Part {
  readonly functionResponse?: {
    readonly id?: string;
    readonly response: { readonly output?: string; readonly error?: string };
  };
}

/** Gemini CLI. Calls have no ids of the model's own choice: the last report is the one. */
export const generateContentApi: Dialect = {
  path: /:streamGenerateContent/,
  definitions: ({ tools = [] }: { tools?: { functionDeclarations: { name: string }[] }[] }) =>
    tools.flatMap(({ functionDeclarations }) => functionDeclarations),
  reported({ contents }: { contents: { parts: Part[] }[] }) {
    const reports = contents.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse }) => functionResponse ?? []),
    );
    const { output, error } = reports.at(-1)?.response ?? {};
    return output ?? error;
  },
  events(reply) {
    const part =
      'tool' in reply
        ? { functionCall: { id: reply.callId, name: reply.tool, args: reply.args } }
        : { text: reply.text };
    const content = { role: 'model', parts: [part] };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [{ data: { candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata } }];
  },
};

interface ChatMessage {
  readonly role: string;
  readonly tool_call_id?: string;
  readonly content?: string | readonly Block[];
}

/** opencode, with the provider for servers that are compatible with OpenAI's. */
export const chatApi: Dialect = {
  path: /^\/v1\/chat\/completions$/,
  definitions: ({ tools = [] }: { tools?: { function: { name: string } }[] }) =>
    tools.map((each) => each.function),
  reported({ messages }: { messages: ChatMessage[] }, callId) {
    const found = messages.find(({ role, tool_call_id }) => role === 'tool' && tool_call_id === callId);
    return found && textOf(found.content);
  },
  events(reply) {
    const call = (name: string, args: object, id: string): object => ({
      tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    });
    const delta = 'tool' in reply ? call(reply.tool, reply.args, reply.callId) : { content: reply.text };
    const chunk = (choice: object): object => ({
      id: 'chunk',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'script',
      choices: [{ index: 0, ...choice }],
    });
    const reason = 'tool' in reply ? 'tool_calls' : 'stop';
    return [
      { data: chunk({ delta: { role: 'assistant', ...delta }, finish_reason: null }) },
      { data: chunk({ delta: {}, finish_reason: reason }) },
      { data: '[DONE]' },
    ];
  },
};
