import type { Command } from 'commander';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { rewriteArguments } from '../../src/cli/habits/rewrite-arguments.js';
import { createProgram } from '../../src/cli/program.js';
import { commandsOf, documents, type Snippet, snippetsOf } from './documents.js';

const snippets = documents.flatMap(snippetsOf);
/** Options of other programs that the documents mention. */
const FLAGS_OF_OTHERS = ['--add-mcp', '--only'];
/** A sentence may name a command, or one of its options, without the rest. */
const INCOMPLETE = /^error: (missing required argument|option '.*' argument missing)/;

function eachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) eachCommand(child, visit);
}

/** Parses a command line without doing what it says. Returns what was complained about. */
async function complaintAbout(args: readonly string[]): Promise<string> {
  const program = await createProgram(args[0]);
  let complaint = '';
  eachCommand(program, (command) => {
    command.configureOutput({ writeErr: (text) => void (complaint += text) });
    // One that only holds others has nothing to do, but to say which there are.
    const acts = command.commands.length === 0 || command.registeredArguments.length > 0;
    if (acts) command.action(() => undefined);
  });
  try {
    await program.parseAsync(rewriteArguments(args), { from: 'user' });
    return '';
  } catch (error) {
    return complaint || String(error);
  }
}

interface Call {
  readonly at: string;
  readonly args: readonly string[];
  /** The arguments for the name of the test. */
  readonly line: string;
  /** Within a sentence, where what matters need not be all of it. */
  readonly inSentence: boolean;
}

/** Every call of `execwire` in a piece of code: typed, behind another command, or started by one. */
function callsIn({ at, text, kind }: Snippet): Call[] {
  if (!['indented', 'span', 'sh'].includes(kind)) return [];
  // A process substitution is a command of its own.
  const lines = text.split('\n').map((line) => line.replace(/^\$ /, '').replaceAll(/<\(([^)]*)\)/g, '; $1'));
  return lines.flatMap(commandsOf).flatMap((words) =>
    words.flatMap((word, index) => {
      const args = words.slice(index + 1);
      // Clients of MCP are told a name first, and that is the same.
      const isName = args[0] === undefined || args[0] === '--' || args[0] === 'execwire';
      if (word !== 'execwire' || isName) return [];
      return [{ at, args, line: args.join(' '), inSentence: kind === 'span' }];
    }),
  );
}

/** Configuration for those who start it, in JSON or TOML: a piece of its own, or an argument of a command. */
function configurationIn({ text, kind }: Snippet): unknown {
  if (kind === 'json' && text.includes('mcpServers')) return JSON.parse(text);
  if (kind === 'toml' || (kind === 'indented' && text.startsWith('[['))) return parseToml(text);
  const json = kind === 'span' ? (/^\{ ?".*\}$/.exec(text)?.[0] ?? /'(\{".*\})'/.exec(text)?.[1]) : undefined;
  return json === undefined ? null : JSON.parse(json);
}

/** Programs with their arguments, wherever in a configuration they are. */
function startersIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  const { command, program, args } = value as Record<string, unknown>;
  const own = Array.isArray(args) ? [[String(command ?? program), ...args.map(String)]] : [];
  return [...own, ...Object.values(value).flatMap(startersIn)];
}

const calls = snippets.flatMap(callsIn);
const starters = snippets.flatMap((snippet) =>
  startersIn(configurationIn(snippet)).map((words) => {
    const args = words.slice(words.lastIndexOf('execwire') + 1);
    return { at: snippet.at, args, line: args.join(' ') };
  }),
);

describe('what the documents tell to type', () => {
  test('is found, whatever it is about', async () => {
    const program = await createProgram();
    const commands = program.commands.map((command) => command.name());
    expect(calls.map(({ args }) => args[0])).toEqual(expect.arrayContaining(commands));
    // In README.md, and in the guides: two for MCP, one each for Codex and for programs that relay.
    expect(starters.length).toBeGreaterThanOrEqual(5);
  });

  test.each(calls)('$at: execwire $line', async ({ args, inSentence }) => {
    const complaint = await complaintAbout(args);
    if (!inSentence || !INCOMPLETE.test(complaint)) expect(complaint).toBe('');
  });

  test.each(starters)('$at: a configuration that starts execwire $line', async ({ args }) => {
    expect(await complaintAbout(args)).toBe('');
  });

  test('names options that exist', async () => {
    const known = new Set(FLAGS_OF_OTHERS);
    eachCommand(await createProgram(), ({ options }) => {
      for (const { long } of options) if (long) known.add(long);
    });
    const unknown = snippets
      .filter(({ kind }) => kind === 'span')
      .flatMap(({ at, text }) =>
        [...text.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([flag]) => ({ at, flag })),
      )
      .filter(({ flag }) => !known.has(flag));
    expect(unknown).toEqual([]);
  });

  test.each([
    ['an unknown command', ['no-such-command']],
    ['an unknown option', ['mcp', '--no-such-option']],
    ['a missing argument', ['cp', 'one']],
    ['too many arguments', ['doctor', 'extra']],
  ])('%s would be noticed', async (_what, args) => {
    expect(await complaintAbout(args)).toContain('error: ');
  });
});
