// The same agent in the shape of the OpenAI Responses API, with the official `openai` package (npm install openai) and a
// server on loopback in place of OpenAI's. Run it with `node examples/agent-tools/openai-agent.mjs` after `npm run build`.
import assert from 'node:assert/strict';
import { openEnvironment } from 'execwire';
import { openAiResponsesTools, resultText, Toolbox } from 'execwire/tools';
import OpenAI from 'openai';
import { openResponsesServer } from './responses-server.mjs';

const environment = await openEnvironment('local');
const toolbox = new Toolbox(environment);
const server = await openResponsesServer();
try {
  // With a real model: `new OpenAI()`, which reads its key from OPENAI_API_KEY.
  const client = new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
  console.log(await converse(client));
  const { structured } = await toolbox.call('list_sessions', {});
  const left = /** @type {{ running: boolean }[]} */ (structured['sessions']).filter(
    ({ running }) => running,
  );
  assert.deepEqual(left, [], 'a session was left running');
} finally {
  await server.close();
  await toolbox.close();
  await environment.close();
}

/** Asks the model, runs what it wants, hands back the results, until it has an answer. */
async function converse(client) {
  const tools = openAiResponsesTools(toolbox.tools);
  const input = [{ role: 'user', content: 'Find the answer, serve it, and clean up.' }];
  for (;;) {
    const response = await client.responses.create({ model: 'gpt-5.5', tools, input });
    const calls = response.output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return response.output_text;
    input.push(...response.output, ...(await Promise.all(calls.map(run))));
  }
}

/** The arguments come as JSON text, and are passed on as they are. */
async function run(call) {
  const result = await toolbox.call(call.name, call.arguments);
  return { type: 'function_call_output', call_id: call.call_id, output: resultText(result) };
}
