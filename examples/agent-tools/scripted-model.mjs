import assert from 'node:assert/strict';

/** Each step looks at the last result, as a model would, and decides what to call next. */
const script = [
  () => call('exec_command', { cmd: 'PYTHON_BASIC_REPL=1 python3 -q', yield_time_ms: 0 }),
  ({ session }) => call('wait_for', { session_id: session, needs_input: true }),
  ({ session }) => call('write_stdin', { session_id: session, chars: 'print("answer", 6 * 7)\n' }),
  ({ session, seen }) =>
    seen('answer 42')
      ? call('write_stdin', { session_id: session, chars: 'exit()\n', yield_time_ms: 30_000 })
      : call('wait_for', { session_id: session, pattern: '^answer 42' }),
  ({ session, text }) =>
    text.startsWith('Exit code')
      ? 'next'
      : call('write_stdin', { session_id: session, chars: 'exit()\n', yield_time_ms: 30_000 }),
  ({ text }) => {
    assert.match(text, /^Exit code 0/);
    return call('exec_command', { cmd: 'seq 1 50000', max_output_tokens: 50 });
  },
  ({ text }) => {
    assert.match(text, /Truncated from \d+ tokens/);
    const session_id = Number(/read_output, session_id (\d+)/.exec(text)?.[1]);
    return call('read_output', { session_id, grep: '^42{3}$' });
  },
  ({ text }) => {
    assert.match(text, /1 of 50000 lines match\n4222:4222\n/);
    const serve = `python3 -u -c 'import http.server as h; s = h.HTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler); print("port", s.server_port); s.serve_forever()'`;
    return call('exec_command', { cmd: serve, yield_time_ms: 0 });
  },
  ({ session, seen }) =>
    seen('port ') ? 'next' : call('wait_for', { session_id: session, pattern: '^port \\d+' }),
  ({ session, all }) => call('wait_for', { session_id: session, port: Number(/port (\d+)/.exec(all)?.[1]) }),
  ({ session, text }) => {
    assert.match(text, /^Port open\. /);
    return call('write_stdin', { session_id: session, chars: '\u0003', yield_time_ms: 30_000 });
  },
  ({ text }) => {
    assert.match(text, /^Exit code \d+/);
    return { stop_reason: 'end_turn', content: [{ type: 'text', text: 'The answer is 42.' }] };
  },
];

let calls = 0;

function call(name, input) {
  calls += 1;
  return { stop_reason: 'tool_use', content: [{ type: 'tool_use', id: `call-${calls}`, name, input }] };
}

/** Stands in for a model: follows the script, and insists that the tools it uses were offered to it. */
export class ScriptedModel {
  #offered;
  #step = 0;
  #session;

  constructor({ tools }) {
    this.#offered = new Set(tools.map(({ name }) => name));
    for (const tool of tools) assert.equal(tool.input_schema.type, 'object');
  }

  reply(messages) {
    const results = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const last = results.findLast(({ type }) => type === 'tool_result');
    const text = last?.content ?? '';
    assert.ok(!last?.is_error, text);
    this.#session = Number(/session ID (\d+)/.exec(text)?.[1] ?? this.#session);
    const all = results.map(({ content }) => content ?? '').join('\n');
    const view = { text, all, session: this.#session, seen: (part) => text.includes(part) };
    for (;;) {
      const reply = script[this.#step](view);
      this.#step += 1;
      if (reply === 'next') continue;
      for (const { name } of reply.content) assert.ok(name === undefined || this.#offered.has(name));
      return reply;
    }
  }
}
