import { type Property, propertiesOf } from './definitions.js';
import type { Tool } from './tool.js';

/** What models call an argument that they know from other tools. Used only if a tool has the argument on the right. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['command', 'cmd'],
  ['cwd', 'workdir'],
  ['workingdirectory', 'workdir'],
  ['filepath', 'path'],
  ['filename', 'path'],
  ['contents', 'content'],
  ['session', 'session_id'],
  ['input', 'chars'],
  ['query', 'pattern'],
]);

const NUMBER = /^\s*-?\d+(?:\.\d+)?\s*$/;

/** Replaces names and values that can only mean one thing. Everything else stays, to be complained about. */
export function repairArguments(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const properties = propertiesOf(tool);
  const repaired = new Map<string, unknown>();
  for (const [name, value] of Object.entries(given)) {
    const meant = nameMeant(name, properties);
    const isTaken = meant !== name && (Object.hasOwn(given, meant) || repaired.has(meant));
    const property = isTaken ? undefined : properties.get(meant);
    const fixed = property ? repairValue(value, property, meant) : value;
    // Null stands for an argument that was left out.
    if (fixed !== null || !property) repaired.set(property ? meant : name, fixed);
  }
  return Object.fromEntries(repaired);
}

function nameMeant(name: string, properties: ReadonlyMap<string, Property>): string {
  if (properties.has(name)) return name;
  const plain = plainName(name);
  const other = OTHER_NAMES.get(plain);
  if (other !== undefined && properties.has(other)) return other;
  return [...properties.keys()].find((each) => plainName(each) === plain) ?? name;
}

/** `maxOutputTokens`, `Max-Output-Tokens` and `max_output_tokens` are the same. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

function repairValue(value: unknown, property: Property, name: string): unknown {
  switch (property.type) {
    case 'integer':
    case 'number':
      return typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
    case 'boolean':
      return typeof value === 'string' ? booleanIn(value) : value;
    case 'array':
      return typeof value === 'string' ? listIn(value) : value;
    case 'string':
      return textIn(value, property, name);
    default:
      return value;
  }
}

function booleanIn(text: string): unknown {
  const word = text.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : text;
}

function listIn(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return [text];
  try {
    return JSON.parse(text);
  } catch {
    // A pattern such as `[ab]*.ts`.
    return [text];
  }
}

function textIn(value: unknown, property: Property, name: string): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string')
    return property.enum?.find((each) => plainName(each) === plainName(value)) ?? value;
  const isArgv = name === 'cmd' && Array.isArray(value) && value.length > 0 && value.every(isString);
  return isArgv ? commandLine(value) : value;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** A program and its arguments as a shell takes them; a single word is a command line already. */
function commandLine(words: readonly string[]): string {
  const [first = ''] = words;
  return words.length === 1 ? first : words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
