import { z } from 'zod';
import { sharedTypes } from './dialects.mjs';

/** Input mode: defaults may be left out. What JSON Schema cannot say (any value) is left open. */
/** @type {Parameters<typeof z.toJSONSchema>[1]} */
const OPTIONS = { io: 'input', unrepresentable: 'any', override: dropLimitsOfNumbers };

/**
 * Every payload of a dialect under a name of its own, and the types they share: `process/start` has `ProcessStartParams`
 * and `ProcessStartResult`. References are made with `refTo`.
 */
export function payloadDefinitions(dialect, refTo) {
  /** @type {import('zod').core.$ZodRegistry<{ id: string }>} */
  const registry = z.registry();
  const aliases = {};
  const register = (id, schema) => {
    const known = registry.get(schema)?.id;
    // The same message in both directions is one.
    if (known === id) return;
    if (known) aliases[id] = { $ref: refTo(known) };
    else registry.add(schema, { id });
  };
  for (const [id, schema] of Object.entries(sharedTypes)) register(id, schema);
  for (const { typeName, declaration } of methodsOf(dialect)) {
    register(`${typeName}Params`, declaration.params);
    if (declaration.result) register(`${typeName}Result`, declaration.result);
  }
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: refTo });
  const named = Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _id, ...schema }]) => [id, schema]),
  );
  return withoutUnused({ ...named, ...aliases }, refTo);
}

/** The methods of a dialect in order, with the name their types begin with. */
export function methodsOf({ requests, fromClient, fromServer, asked }) {
  const list = (table, kind) =>
    Object.entries(table).map(([method, declaration]) => ({
      method,
      kind,
      typeName: typeName(method),
      declaration,
    }));
  return [
    ...list(requests, 'request'),
    ...list(fromClient, 'clientNotification'),
    ...list(fromServer, 'serverNotification'),
    ...list(asked, 'serverRequest'),
  ];
}

/** `fs/readFile` becomes `FsReadFile`. */
export function typeName(method) {
  return method
    .split('/')
    .map((part) => part[0].toUpperCase() + part.slice(1))
    .join('');
}

/** A shared type is only worth its place where something refers to it. */
function withoutUnused(definitions, refTo) {
  const used = (id) => JSON.stringify(definitions).includes(JSON.stringify({ $ref: refTo(id) }).slice(1, -1));
  for (let before = -1; before !== Object.keys(definitions).length; ) {
    before = Object.keys(definitions).length;
    for (const id of Object.keys(sharedTypes)) if (definitions[id] && !used(id)) delete definitions[id];
  }
  return definitions;
}

/** That an integer is one JavaScript can count to goes without saying. */
function dropLimitsOfNumbers({ jsonSchema }) {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
