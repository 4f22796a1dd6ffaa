// An agent loop in the shape of the Anthropic Messages API, with a scripted model in place of a real one.
// Run it with `node examples/agent-tools/agent.mjs` after `npm run build`; it exits non-zero if anything is off.
import assert from 'node:assert/strict';
import { LocalEnvironment } from 'execwire';
import { anthropicTools, resultText, Toolbox } from 'execwire/tools';
import { ScriptedModel } from './scripted-model.mjs';

await using_(new LocalEnvironment(), async (environment) => {
  await using_(new Toolbox(environment), async (toolbox) => {
    const model = new ScriptedModel({ tools: anthropicTools(toolbox.tools) });
    const transcript = await converse(model, toolbox);
    assert.deepEqual(await toolbox.call('list_sessions', {}).then(running), [], 'a session was left running');
    console.log(transcript);
  });
});

/** The loop every agent has: ask the model, run what it wants, hand back the results, until it has an answer. */
async function converse(model, toolbox) {
  /** @type {{ role: string, content: string | object[] }[]} */
  const messages = [{ role: 'user', content: 'Find the answer, serve it, and clean up.' }];
  for (;;) {
    const reply = model.reply(messages);
    messages.push({ role: 'assistant', content: reply.content });
    if (reply.stop_reason !== 'tool_use') return reply.content[0].text;
    const calls = reply.content.filter(({ type }) => type === 'tool_use');
    messages.push({ role: 'user', content: await Promise.all(calls.map((call) => run(call, toolbox))) });
  }
}

async function run({ id, name, input }, toolbox) {
  const result = await toolbox.call(name, input);
  return { type: 'tool_result', tool_use_id: id, content: resultText(result), is_error: result.isError };
}

function running({ structured }) {
  return structured.sessions.filter((session) => session.running);
}

/** Whoever opens, closes; Node 20 has no syntax for it. */
async function using_(resource, use) {
  try {
    await use(resource);
  } finally {
    await resource.close();
  }
}
