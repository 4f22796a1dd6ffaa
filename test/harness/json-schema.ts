/** As much of JSON Schema as our generated files use. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly format?: string;
  readonly not?: JsonSchema;
  readonly description?: string;
}

/** The smallest value with every required member. */
export function sampleOf(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice) return sampleOf(choice);
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {})]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
    case 'number':
    case 'integer':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'string':
      if (schema.format === 'uri') return 'file:///';
      if (schema.pattern?.includes('SIG')) return 'SIGTERM';
      return schema.pattern?.includes('/') ? '/' : 'x';
    default:
      return null;
  }
}

/** What is wrong with a value, as paths and reasons. */
export function violations(schema: JsonSchema, value: unknown, at = '$'): string[] {
  if (schema.not) return [`${at}: not allowed`];
  if (schema.const !== undefined && value !== schema.const) return [`${at}: not the constant`];
  if (schema.enum && !schema.enum.includes(value)) return [`${at}: not one of the enum`];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const fits = choices.some((choice) => violations(choice, value, at).length === 0);
    return fits ? [] : [`${at}: fits no alternative`];
  }
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => hasType(type, value)))
    return [`${at}: not of type ${types.join()}`];
  if (value === null) return [];
  if (schema.pattern && !(typeof value === 'string' && new RegExp(schema.pattern).test(value)))
    return [`${at}: breaks the pattern`];
  if (schema.minimum !== undefined && Number(value) < schema.minimum) return [`${at}: too small`];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => violations(schema.items ?? {}, item, `${at}[${index}]`));
  }
  if (typeof value === 'object' && value !== null) return memberViolations(schema, value, at);
  return [];
}

function memberViolations(schema: JsonSchema, value: object, at: string): string[] {
  const missing = (schema.required ?? [])
    .filter((name) => !(name in value))
    .map((name) => `${at}.${name}: missing`);
  const members = Object.entries(value).flatMap(([name, member]) => {
    const declared = schema.properties?.[name] ?? schema.additionalProperties;
    return typeof declared === 'object' ? violations(declared, member, `${at}.${name}`) : [];
  });
  return [...missing, ...members];
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
