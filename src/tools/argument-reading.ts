import { describeProblem } from './argument-problem.js';
import { repairArguments } from './argument-repair.js';
import type { Tool } from './tool.js';

/** The arguments of a call, or one sentence (without its end) about what is wrong with them. */
export type ReadArguments =
  | { readonly args: Record<string, unknown>; readonly notes: readonly string[] }
  | { readonly problem: string };

/**
 * Checks what a model sent. What it can only have meant in one way is accepted: arguments as JSON text, null for an
 * argument left out, a number as a string, a name in another spelling.
 */
export function readArguments(tool: Tool, sent: unknown): ReadArguments {
  const given = parseText(sent);
  if (!isObject(given)) return { problem: 'they must be a JSON object' };
  const parsed = tool.input.safeParse(given);
  if (parsed.success && unknownNames(tool, given).length === 0) return { args: parsed.data, notes: [] };
  const repaired = repairArguments(tool, given);
  const again = tool.input.safeParse(repaired);
  if (!again.success) return { problem: describeProblem(tool, repaired, again.error) };
  const unknown = unknownNames(tool, repaired);
  // A model that believes in an argument, such as a time limit, has to learn that there is none.
  const notes = unknown.length === 0 ? [] : [`${tool.name} has no ${unknown.join(', ')}: ignored.`];
  return { args: again.data, notes };
}

/** Some model APIs return text, and some models encode what is encoded already. */
function parseText(sent: unknown): unknown {
  let given = sent ?? {};
  for (let depth = 0; depth < 2 && typeof given === 'string'; depth += 1) {
    try {
      given = given.trim() === '' ? {} : (JSON.parse(given) ?? {});
    } catch {
      break;
    }
  }
  return given;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownNames(tool: Tool, given: object): string[] {
  return Object.keys(given).filter((name) => !Object.hasOwn(tool.input.shape, name));
}
