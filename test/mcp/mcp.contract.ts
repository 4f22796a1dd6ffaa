import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { call } from './call.js';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';

/** A client of the SDK, connected. Disposing of it ends the connection as a client would. */
export interface Connected extends AsyncDisposable {
  readonly client: Client;
}

/** What every transport must do, seen through the SDK's own client, which checks answers against their schemas. */
export function mcpContract(name: string, connect: () => Promise<Connected>): void {
  describe(`MCP over ${name}`, () => {
    test('introduces itself', async () => {
      await using connected = await connect();
      const { client } = connected;
      expect(client.getServerVersion()).toMatchObject({ name: 'execwire' });
      expect(client.getServerCapabilities()).toHaveProperty('tools');
      expect(client.getInstructions()).toContain('write_stdin');
      await client.ping();
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual(
        expect.arrayContaining(['exec_command', 'write_stdin', 'wait_for', 'read_output']),
      );
      for (const { annotations, ...tool } of tools) {
        expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
        expect(tool.title).toMatch(/^[A-Z]/);
        for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
          expect(annotations).toHaveProperty(hint, expect.any(Boolean));
        }
      }
      const harmless = tools.filter(({ annotations }) => annotations?.readOnlyHint).map((tool) => tool.name);
      expect(harmless).toEqual([
        'wait_for',
        'read_output',
        'list_sessions',
        'read_file',
        'list_directory',
        'search',
      ]);
    });

    test('offers the output of sessions as resources', async () => {
      await using connected = await connect();
      const { client } = connected;
      expect((await client.listResources()).resources).toEqual([]);
      const cmd = 'printf "one\\n\\033[31mtwo\\033[0m\\n"';
      await client.callTool({ name: 'exec_command', arguments: { cmd, login: false } });
      const uri = 'execwire://session/1/output';
      const { resources } = await client.listResources();
      expect(resources).toEqual([
        { uri, name: 'session-1-output', title: 'Output of session 1', mimeType: 'text/plain', size: 19 },
      ]);
      expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
        { uriTemplate: 'execwire://session/{session_id}/output' },
      ]);
      expect(await client.readResource({ uri })).toEqual({
        contents: [{ uri, mimeType: 'text/plain', text: 'one\ntwo\n' }],
      });
      for (const unknown of ['execwire://session/2/output', 'execwire://session/1', 'file:///etc/passwd'])
        await expect(client.readResource({ uri: unknown })).rejects.toMatchObject({ code: -32602 });
    });

    test('a resource larger than a client can take shows its beginning and its end', async () => {
      await using connected = await connect();
      const { client } = connected;
      const args = { cmd: 'echo first; seq 1 400000; echo last', login: false, yield_time_ms: 30_000 };
      await client.callTool({ name: 'exec_command', arguments: args });
      const { contents } = await client.readResource({ uri: 'execwire://session/1/output' });
      const [{ text = '' } = {}] = contents as { text?: string }[];
      expect(text).toMatch(/^first\n1\n2\n[^]*\n400000\nlast\n$/);
      expect(text.length).toBeLessThan(1.1 * 1024 ** 2);
    });

    test('answers of every tool fit its schema', async () => {
      await using connected = await connect();
      const { client } = connected;
      using folder = new TestFolder();
      // From here on the client holds every answer against the schema it was told.
      const { tools } = await client.listTools();
      const path = folder.file('a.txt');
      const start = { cmd: 'echo one; read x; echo two', login: false, yield_time_ms: 0 };
      const calls: [string, Record<string, unknown>][] = [
        ['exec_command', start],
        ['wait_for', { session_id: 1, needs_input: true }],
        ['write_stdin', { session_id: 1, yield_time_ms: 0 }],
        ['list_sessions', {}],
        ['kill_session', { session_id: 1 }],
        ['read_output', { session_id: 1, grep: 'one' }],
        ['write_file', { path, content: 'one\n' }],
        ['read_file', { path }],
        ['list_directory', { path: folder.path }],
        ['search', { path: folder.path, pattern: 'one' }],
      ];
      expect(calls.map(([tool]) => tool).sort()).toEqual(tools.map((tool) => tool.name).sort());
      for (const [tool, args] of calls) {
        const { isError, text, data } = await call(client, tool, args);
        expect({ tool, isError, text }).toEqual({ tool, isError: false, text: expect.stringMatching(/./) });
        expect(Object.keys(data).length).toBeGreaterThan(0);
      }
    });

    test('mistakes are answered in a sentence', async () => {
      await using connected = await connect();
      const { client } = connected;
      await client.listTools();
      const mistakes: [string, Record<string, unknown>, RegExp][] = [
        ['no_such_tool', {}, /^There is no tool named no_such_tool\.$/],
        ['exec_command', {}, /^Invalid arguments for exec_command: cmd is missing.*\.$/],
        ['exec_command', { cmd: {} }, /^Invalid arguments for exec_command: cmd must be a string.*\.$/],
        ['write_stdin', { session_id: 'one' }, /^Invalid arguments for write_stdin: session_id must .*\.$/],
        ['write_stdin', { session_id: 99 }, /^Unknown session ID 99: no such session was started\.$/],
        ['read_file', { path: '/no/such/file' }, /^\/no\/such\/file: No such file/],
      ];
      for (const [tool, args, sentence] of mistakes) {
        const { isError, text, data } = await call(client, tool, args);
        expect({ tool, isError, data }).toEqual({ tool, isError: true, data: {} });
        expect(text).toMatch(sentence);
      }
      // Nothing of it has harmed the connection.
      expect((await call(client, 'list_sessions', {})).data).toEqual({ sessions: [] });
    });

    test('runs commands and talks to them', async () => {
      await using connected = await connect();
      const { client } = connected;
      await client.listTools();
      const done = await call(client, 'exec_command', { cmd: 'echo hello', login: false });
      expect(done.text).toMatch(/^Exit code 0( after [\d.]+ s)?\nhello\n$/);
      expect(done.data).toMatchObject({ running: false, exit_code: 0, output: 'hello\n' });
      const running = await call(client, 'exec_command', {
        cmd: 'read x; echo "got $x"; exit 3',
        login: false,
        yield_time_ms: 0,
      });
      const session_id = running.data.session_id;
      const end = await call(client, 'write_stdin', { session_id, chars: 'it\n', yield_time_ms: 60_000 });
      expect(end.data).toMatchObject({ running: false, exit_code: 3 });
      const gone = await call(client, 'write_stdin', { session_id });
      expect(gone).toMatchObject({ isError: true });
      expect(gone.text).toContain('Unknown session ID');
    });

    test('tells progress while a command runs', async () => {
      await using connected = await connect();
      const seen: Progress[] = [];
      const stop = new AbortController();
      const args = { cmd: 'echo working; sleep 1000', login: false, yield_time_ms: 60_000 };
      const calling = connected.client.callTool({ name: 'exec_command', arguments: args }, undefined, {
        signal: stop.signal,
        onprogress: (progress) => {
          seen.push(progress);
          if (seen.length > 1 && progress.message === 'working') stop.abort();
        },
      });
      await expect(calling).rejects.toThrow();
      expect(seen.at(-1)?.progress).toBeGreaterThan(seen[0]?.progress ?? 0);
    });

    test('a cancelled request interrupts the command', async () => {
      await using connected = await connect();
      using folder = new TestFolder();
      const script = `trap 'echo interrupted > ${folder.file('seen')}; exit' INT; echo up > ${folder.file('up')}; while :; do sleep 0.05; done`;
      const stop = new AbortController();
      const args = { cmd: script, login: false, yield_time_ms: 60_000 };
      const calling = connected.client.callTool({ name: 'exec_command', arguments: args }, undefined, {
        signal: stop.signal,
      });
      calling.catch(() => undefined);
      await folder.appears('up');
      stop.abort();
      await expect(calling).rejects.toThrow();
      expect(await folder.appears('seen')).toBe('interrupted\n');
    });

    test('sessions die with their client', async () => {
      const mark = `mcp-${name.replace(/\W/g, '')}-${process.pid}`;
      {
        await using connected = await connect();
        const cmd = `setsid bash -c 'sleep 1000; :' ${mark} & bash -c 'printf up; sleep 1000; :' ${mark} & wait`;
        const { data } = await call(connected.client, 'exec_command', {
          cmd,
          login: false,
          yield_time_ms: 0,
        });
        const { session_id } = data;
        if (data.output === '') await call(connected.client, 'wait_for', { session_id, pattern: 'up' });
        expect(pidsWithArgument(mark).length).toBeGreaterThan(0);
      }
      await gone(mark);
    });
  });
}
