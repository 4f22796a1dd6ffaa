/** The part of JSON Schema our own schemas use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** How often a value of the wrong kind is put somewhere, and how often a member is left out. */
const WRONG_SHARE = 0.06;
const ABSENT_SHARE = 0.15;
/** Nothing here is a path, a program or an address. */
const TEXTS = ['', 'x', 'ünï', '\u0000', '\ud800', 'a'.repeat(5000), '*', '1', 'AAAA', '{}'];
const NUMBERS = [0, 1, 2, 7, 64, 100];
const ODD = [null, true, -1, 1.5, 2 ** 53, 1e300, '', 'x', [], {}, [[]], { x: 1 }];

/**
 * Values a schema describes, and some it does not. Members named in `fixed` only ever get one of the values given there,
 * at any depth: what must stay harmless is decided by whoever uses this, not by chance.
 */
export class SchemaValues {
  readonly #random: () => number;
  readonly #fixed: Readonly<Record<string, readonly unknown[]>>;

  constructor(random: () => number, fixed: Readonly<Record<string, readonly unknown[]>>) {
    this.#random = random;
    this.#fixed = fixed;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value;
  }

  value(schema: Schema, name = ''): unknown {
    const fixed = this.#fixed[name];
    if (fixed) return this.pick(fixed);
    if (this.#random() < WRONG_SHARE) return this.pick(ODD);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return this.value(this.pick(choices), name);
    if (schema.enum) return this.pick(schema.enum);
    if ('const' in schema) return schema.const;
    return this.#ofType(schema, name);
  }

  #ofType(schema: Schema, name: string): unknown {
    const { type } = schema;
    switch (typeof type === 'string' ? type : this.pick(type ?? ['null'])) {
      case 'object':
        return this.#object(schema);
      case 'array':
        return Array.from({ length: this.pick([0, 1, 1, 2, 5]) }, () => this.value(schema.items ?? {}, name));
      case 'string':
        return this.pick(TEXTS);
      case 'integer':
      case 'number':
        return this.pick(NUMBERS);
      case 'boolean':
        return this.#random() < 0.5;
      default:
        return null;
    }
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      const absent = required.includes(name) ? ABSENT_SHARE / 4 : ABSENT_SHARE * 4;
      if (this.#random() >= absent) made[name] = this.value(schema, name);
    }
    if (typeof additionalProperties === 'object') made['NAME'] = this.value(additionalProperties);
    return made;
  }
}
