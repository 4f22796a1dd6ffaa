import type { z } from 'zod';
import { type Property, propertiesOf } from './definitions.js';
import type { Tool } from './tool.js';

/** More than one is rare, and a model mends them one after another as well. */
const MAX_PROBLEMS = 3;

/** What to send instead, without repeating what was sent. */
export function describeProblem(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  error: z.ZodError,
): string {
  const properties = propertiesOf(tool);
  const names = [...new Set(error.issues.map(({ path }) => String(path[0])))].slice(0, MAX_PROBLEMS);
  const sentences = names.map((name) => {
    const property = properties.get(name);
    if (!property) return `${name} cannot be used`;
    if (given[name] === undefined) return `${name} is missing; send ${kindOf(property)}`;
    return `${name} must be ${kindOf(property)}${property.isRequired ? '' : ', or left out'}`;
  });
  return sentences.join('; ');
}

function kindOf(property: Property): string {
  if (property.enum) return property.enum.map((each) => `"${each}"`).join(' or ');
  switch (property.type) {
    case 'integer':
      return `a whole number${bounds(property)}`;
    case 'number':
      return `a number${bounds(property)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list of strings';
    default:
      return `a string${length(property)}`;
  }
}

function bounds({ minimum, maximum }: Property): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  return minimum === undefined ? '' : ` of at least ${minimum}`;
}

function length({ minLength = 0, maxLength }: Property): string {
  if (maxLength !== undefined) return ` of at most ${maxLength} characters`;
  return minLength > 0 ? ' that is not empty' : '';
}
