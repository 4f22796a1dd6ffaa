import { readFileSync } from 'node:fs';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** A method as a generated schema describes it, with every reference replaced by what it stands for. */
interface Payloads<Schema> {
  readonly description: string;
  readonly params: Schema;
  readonly result: Schema;
}

interface MethodMessage {
  readonly description: string;
  readonly properties: { readonly method: { readonly const: string }; readonly params: Json };
}

export type SchemaFileName = 'exec-server' | 'app-server';

interface SchemaFile {
  readonly $defs: Readonly<Record<string, Json>>;
}

export function readSchema(name: SchemaFileName): SchemaFile {
  const path = new URL(`../../schema/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8')) as SchemaFile;
}

/** The requests and the server's notifications of a generated schema, by method. */
export function methodsIn<Schema>(name: SchemaFileName): {
  requests: Record<string, Payloads<Schema>>;
  serverNotifications: Record<string, Payloads<Schema>>;
} {
  const { $defs } = readSchema(name);
  const byMethod = (union: string): Record<string, Payloads<Schema>> => {
    const { anyOf } = $defs[union] as { anyOf: { $ref: string }[] };
    return Object.fromEntries(
      anyOf.map(({ $ref }) => {
        const id = $ref.slice('#/$defs/'.length);
        const { description, properties } = $defs[id] as unknown as MethodMessage;
        const result = $defs[id.replace(/Request$/, 'Result')] ?? {};
        const resolved = { params: inPlace(properties.params, $defs), result: inPlace(result, $defs) };
        return [properties.method.const, { description, ...resolved } as Payloads<Schema>];
      }),
    );
  };
  return { requests: byMethod('ClientRequest'), serverNotifications: byMethod('ServerNotification') };
}

function inPlace(value: Json, $defs: SchemaFile['$defs']): Json {
  if (Array.isArray(value)) return value.map((each) => inPlace(each, $defs));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value;
  const members = Object.entries(rest).map(([name, each]) => [name, inPlace(each, $defs)] as const);
  if (typeof $ref !== 'string') return Object.fromEntries(members);
  const target = inPlace($defs[$ref.slice('#/$defs/'.length)] ?? {}, $defs);
  return { ...(target as object), ...Object.fromEntries(members) };
}
