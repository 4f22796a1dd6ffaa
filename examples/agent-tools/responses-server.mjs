import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { ScriptedModel } from './scripted-model.mjs';

/** Speaks as much of the OpenAI Responses API as an agent needs, on loopback. The model is the script. */
export async function openResponsesServer() {
  /** @type {ScriptedModel | undefined} */
  let model;
  async function answer(request) {
    const { tools, input } = /** @type {{ tools: any[], input: any[] }} */ (await json(request));
    model ??= new ScriptedModel({
      tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters })),
    });
    return responseOf(model.reply(messagesOf(input)));
  }
  const server = createServer((request, response) => {
    const send = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const refuse = ({ message }) => send(400, { error: { message, type: 'invalid_request_error' } });
    if (request.method !== 'POST' || request.url !== '/v1/responses') response.writeHead(404).end();
    else void answer(request).then((body) => send(200, body), refuse);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Results of calls, as the script expects them. */
function messagesOf(input) {
  return input
    .filter(({ type }) => type === 'function_call_output')
    .map(({ call_id, output }) => ({
      content: [{ type: 'tool_result', tool_use_id: call_id, content: output, is_error: false }],
    }));
}

function responseOf({ content }) {
  const output = content.map((part) =>
    part.type === 'tool_use'
      ? {
          type: 'function_call',
          id: `fc_${part.id}`,
          call_id: part.id,
          name: part.name,
          arguments: JSON.stringify(part.input),
          status: 'completed',
        }
      : {
          type: 'message',
          id: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: part.text, annotations: [] }],
        },
  );
  return { id: 'response', object: 'response', created_at: 0, model: 'script', status: 'completed', output };
}
