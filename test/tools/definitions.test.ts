import { countTokens } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import {
  anthropicTools,
  type McpTool,
  mcpTools,
  openAiChatTools,
  openAiResponsesTools,
  resultText,
} from '../../src/tools/index.js';
import { TestTools } from './harness.js';

/** Clients keep titles and hints to themselves. */
function seenByModel({ name, description, inputSchema }: McpTool): object {
  return { name, description, inputSchema };
}

describe('definitions', () => {
  test('the same tools in every shape', async () => {
    await using tools = new TestTools();
    const all = tools.box.tools;
    const names = all.map(({ name }) => name);
    expect(names.slice(0, 6)).toEqual([
      'exec_command',
      'write_stdin',
      'wait_for',
      'read_output',
      'list_sessions',
      'kill_session',
    ]);
    const responses = openAiResponsesTools(all);
    expect(responses.map(({ name }) => name)).toEqual(names);
    expect(openAiChatTools(all).map((tool) => tool.function.parameters)).toEqual(
      responses.map(({ parameters }) => parameters),
    );
    expect(anthropicTools(all).map((tool) => tool.input_schema)).toEqual(
      responses.map(({ parameters }) => parameters),
    );
    expect(mcpTools(all).map((tool) => tool.inputSchema)).toEqual(
      responses.map(({ parameters }) => parameters),
    );
    for (const tool of responses) {
      expect(tool).toMatchObject({ type: 'function', strict: false, parameters: { type: 'object' } });
      expect(tool.description.length).toBeLessThan(400);
    }
  });

  test('one executor serves the calls of every model API', async () => {
    await using tools = new TestTools();
    const args = { cmd: 'echo hi', login: false };
    // As they come: OpenAI sends arguments as text, the others as an object.
    const responses = { type: 'function_call', name: 'exec_command', arguments: JSON.stringify(args) };
    const chat = { type: 'function', function: { name: 'exec_command', arguments: JSON.stringify(args) } };
    const anthropic = { type: 'tool_use', name: 'exec_command', input: args };
    const mcp = { name: 'exec_command', arguments: args };
    const answers = [
      await tools.box.call(responses.name, responses.arguments),
      await tools.box.call(chat.function.name, chat.function.arguments),
      await tools.box.call(anthropic.name, anthropic.input),
      await tools.box.call(mcp.name, mcp.arguments),
    ];
    for (const { structured } of answers) expect(structured).toMatchObject({ exit_code: 0, output: 'hi\n' });
    expect((await tools.box.call('list_sessions', '')).isError).toBe(false);
    expect(await tools.box.call('exec_command', '{"cmd": "ec')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Invalid arguments for exec_command: .*\.$/),
    });
  });

  test('an argument that does not exist is named, and costs nothing else', async () => {
    await using tools = new TestTools();
    const found = await tools.box.call('exec_command', { cmd: 'echo hi', timeout_ms: 500, why: 'x' });
    expect([found.isError, found.notes]).toEqual([false, ['exec_command has no timeout_ms, why: ignored.']]);
    expect(resultText(found)).toContain('hi\n');
    expect((await tools.box.call('exec_command', { cmd: 'echo hi', login: false })).notes).toEqual([]);
  });

  test('the schema of exec_command names its arguments and defaults', async () => {
    await using tools = new TestTools({ tools: ['exec_command', 'write_stdin'] });
    const [exec, write] = openAiResponsesTools(tools.box.tools);
    expect(exec?.parameters).toMatchObject({
      required: ['cmd'],
      properties: {
        cmd: { type: 'string' },
        yield_time_ms: { type: 'number', default: 10_000, description: 'Default 10000' },
        max_output_tokens: { type: 'integer', default: 10_000 },
        shell: { type: 'string', default: '/bin/bash', description: 'Default /bin/bash' },
        login: { type: 'boolean', default: true },
        tty: { type: 'boolean', default: true, description: 'On a terminal. Default true' },
        workdir: { type: 'string' },
      },
    });
    expect(write?.parameters).toMatchObject({
      required: ['session_id'],
      properties: { session_id: { type: 'integer' }, yield_time_ms: { default: 250 } },
    });
    expect(await tools.failure('kill_session', { session_id: 1 })).toBe(
      'There is no tool named kill_session.',
    );
    expect(() => new TestTools({ tools: ['no_such_tool'] })).toThrow('There is no tool named no_such_tool.');
  });

  test('all of them cost a model less than a thousand tokens', async () => {
    await using tools = new TestTools();
    const all = tools.box.tools;
    for (const definitions of [
      anthropicTools(all),
      mcpTools(all).map(seenByModel),
      openAiResponsesTools(all),
    ])
      expect(countTokens(JSON.stringify(definitions))).toBeLessThan(1000);
  });

  test('every default stands in the description, which is all that some clients pass on', async () => {
    await using tools = new TestTools();
    const properties = anthropicTools(tools.box.tools).flatMap(({ input_schema }) =>
      Object.values(input_schema.properties ?? {}),
    ) as { default?: string | number | boolean; description?: string }[];
    const withDefault = properties.filter((each) => each.default !== undefined && each.default !== '');
    expect(withDefault.length).toBeGreaterThan(8);
    for (const each of withDefault) expect(each.description).toContain(`Default ${each.default}`);
  });

  test('arguments that are not shown are taken all the same', async () => {
    await using tools = new TestTools();
    const { structured } = await tools.call('exec_command', { cmd: 'echo one; echo two', login: false });
    expect(structured).toMatchObject({ exit_code: 0 });
    const shown = anthropicTools(tools.box.tools).find(({ name }) => name === 'read_output');
    expect(shown?.input_schema.properties).not.toHaveProperty('max_output_tokens');
    const cut = await tools.call('read_output', { session_id: 1, max_output_tokens: 0 });
    expect(cut.structured).toMatchObject({ truncated: true });
  });

  test('an MCP server describes structured results on request only', async () => {
    await using tools = new TestTools();
    for (const tool of mcpTools(tools.box.tools)) expect(tool).not.toHaveProperty('outputSchema');
    for (const tool of mcpTools(tools.box.tools, { structured: true }))
      expect(tool.outputSchema).toMatchObject({ type: 'object' });
  });

  test('notes follow the answer when there is only text', () => {
    const result = { text: 'Exit code 0\nhi', notes: ['One.', 'Two.'], structured: {}, isError: false };
    expect(resultText(result)).toBe('Exit code 0\nhi\nNote: One.\nNote: Two.');
    expect(resultText({ ...result, notes: [] })).toBe('Exit code 0\nhi');
  });
});
