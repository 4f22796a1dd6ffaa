import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { openRunDirectory } from '../harness/run-directory.js';
import { type Call, type Costs, loadBenchTools, type OwnWays } from './bench-tools.js';
import { CallQueue } from './call-queue.js';
import { type McpClient, mcpClients } from './clients.js';
import { converse } from './conversation.js';

const { Ledger, proofs, reportOfText, tasks, tokensOf, withClaude, withCodex, writeClientReport } =
  await loadBenchTools();

/** With this variable set, all tasks are done, and the report is written. Without it, one of them shows that it can be done. */
const isForReport = process.env['EXECWIRE_TOOL_COSTS'] !== undefined;
const chosen = isForReport ? tasks : tasks.filter(({ name }) => name === 'confirm');

interface Column {
  readonly title: string;
  readonly client: McpClient;
  /** The tools that the client brings along; undefined for ours. */
  readonly own?: { readonly ways: OwnWays; readonly tools: readonly string[] };
}

const byName = (name: string): McpClient => {
  const found = mcpClients.find((client) => client.name === name);
  if (!found) throw new Error(`there is no client ${name}`);
  return found;
};
const claude = byName('Claude Code');
const allowed: McpClient = { ...claude, run: [...claude.run, 'Bash', 'TaskStop'] };

const columns: readonly Column[] = [
  ...mcpClients.map((client) => ({ title: client.name, client })),
  {
    title: "Codex's own",
    client: byName('Codex'),
    own: { ways: withCodex, tools: ['exec_command', 'write_stdin'] },
  },
  {
    title: "Claude Code's own",
    client: allowed,
    own: { ways: withClaude, tools: ['Bash', 'TaskOutput', 'TaskStop'] },
  },
];

const results: Record<string, Costs> = {};

test.each(isForReport ? columns : columns.slice(1, 2).concat(columns.slice(-1)))(
  '$title',
  { timeout: 400_000 },
  async ({ title, client, own }) => {
    await using run = await openRunDirectory();
    const scratch = await mkdtemp(join(tmpdir(), 'execwire-costs-'));
    const server = await ServerProcess.start();
    const queue = new CallQueue();
    const costs: Record<string, number> = {};
    const said: string[] = [];
    const script = queue.script(async () => {
      for (const task of chosen) {
        const folder = join(scratch, task.name);
        await mkdir(folder, { recursive: true });
        const context = { folder, ...(await task.prepare?.(folder)) };
        const ledger = new Ledger();
        const call: Call = async (tool, args) => {
          const name = own ? tool : client.nameOf(tool);
          const { text } = await ledger.call(name, args, async () => ({
            text: await queue.call({ tool, args, own: own !== undefined }),
          }));
          said.push(text.slice(0, 300));
          return text;
        };
        if (own) expect(await own.ways[task.name]?.(call, context)).toMatch(proofs[task.name] ?? 'a proof');
        else {
          const tools = { call: async (tool: string, args: object) => reportOfText(await call(tool, args)) };
          task.verify(await task.ours(tools, context), context);
        }
        costs[task.name] = ledger.entry().tokens;
      }
    });
    const { child, model } = await converse(client, script, { run, url: server.url });
    await using _model = model;
    await using _child = child;
    try {
      await child.ended;
      if (model.failure) throw model.failure;
      expect(Object.keys(costs)).toEqual(chosen.map(({ name }) => name));
      const offered = client.dialect.definitions(model.requests.at(-1) as never) as { name?: string }[];
      const counted = offered.filter((each) =>
        own ? own.tools.includes(each.name ?? '') : JSON.stringify(each).includes('execwire'),
      );
      results[title] = { definitions: tokensOf(JSON.stringify(counted)), tasks: costs };
    } catch (error) {
      throw new Error(`${String(error)}\n${said.join('\n--\n')}\n${child.stderr.slice(-2000)}`, {
        cause: error,
      });
    } finally {
      await server.stop();
      await rm(scratch, { recursive: true, force: true });
    }
  },
);

afterAll(() => {
  if (isForReport) writeClientReport(results);
});
