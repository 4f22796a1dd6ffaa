import { payloadDefinitions, typeName } from './definitions.mjs';
import { sharedTypes } from './dialects.mjs';

const refTo = (id) => `#/${id}`;
const idOf = ($ref) => $ref.slice(refTo('').length);

/** A page with every method of a dialect, a row for every field, and the types that several of them share. */
export function referencePage(dialect) {
  const definitions = payloadDefinitions(dialect, refTo);
  const sections = [
    ['Requests', dialect.requests],
    ['Notifications from the client', dialect.fromClient],
    ['Notifications from the server', dialect.fromServer],
    ['Requests from the server', dialect.asked],
  ].filter(([, table]) => Object.keys(table).length > 0);
  const shared = Object.keys(sharedTypes).filter((id) => definitions[id]);
  const lines = [
    `# ${dialect.title}`,
    '',
    '<!-- Generated from src/protocol by `npm run generate`. -->',
    '',
    dialect.intro,
    ...sections.flatMap(([title, table]) => [
      '',
      `## ${title}`,
      ...Object.entries(table).flatMap(([name, declaration]) =>
        methodSection(name, declaration, definitions),
      ),
    ]),
    ...(shared.length > 0 ? ['', '## Types'] : []),
    ...shared.flatMap((id) => typeSection(id, definitions[id])),
  ];
  return `${lines.join('\n')}\n`;
}

function methodSection(name, { doc, extension, bytes, result }, definitions) {
  const bulk = bytes ? ` With \`binaryFrames\` \`${bytes.params ?? bytes.result}\` may travel as bytes.` : '';
  const payload = (suffix) => resolved(definitions[`${typeName(name)}${suffix}`], definitions);
  return [
    '',
    `### ${name}`,
    '',
    `${doc}${extension ? ` *Extension: \`${extension}\`.*` : ''}${bulk}`,
    ...fieldTable('Parameters', payload('Params')),
    ...(result ? fieldTable('Result', payload('Result')) : []),
  ];
}

function typeSection(id, schema) {
  const description = schema.description ? ['', schema.description] : [];
  const values = objectsIn(schema).length === 0 ? ['', `One of ${typeText(schema)}.`] : [];
  return ['', `### ${id}`, ...description, ...values, ...fieldTable('Fields', schema)];
}

/** Methods with the same payload share its definition. */
function resolved(schema, definitions) {
  return schema?.$ref ? resolved(definitions[idOf(schema.$ref)], definitions) : (schema ?? {});
}

function fieldTable(title, schema) {
  const rows = alternativeRows(objectsIn(schema), '');
  if (rows.length === 0) return [];
  return ['', `**${title}**`, '', '| field | type | required | |', '|---|---|---|---|', ...rows];
}

/** One row per field; fields of nested objects follow their parent, each alternative of a union in turn. */
function fieldRows(schema, { prefix, when }) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const label = `${prefix}${name}`;
    const needed = required.has(name)
      ? 'yes'
      : field.default === undefined
        ? ''
        : `default \`${JSON.stringify(field.default)}\``;
    const notes = [when, field.description ?? ''].filter(Boolean).join(' ');
    const row = `| \`${label}\` | ${typeText(field)} | ${needed} | ${notes} |`;
    // What tells the alternatives apart has been said by the one before.
    const own = when && field.const !== undefined ? [] : [row];
    return [...own, ...nestedRows(field, label)];
  });
}

function nestedRows(field, label) {
  const list = field.type === 'array' || field.anyOf?.some(({ type }) => type === 'array');
  const inside = field.type === 'array' ? (field.items ?? {}) : field;
  return alternativeRows(objectsIn(inside), `${label}${list ? '[]' : ''}.`);
}

function alternativeRows(objects, prefix) {
  const [only, ...others] = objects;
  if (others.length === 0) return only ? fieldRows(only, { prefix, when: '' }) : [];
  return [
    ...selectorRow(objects, prefix),
    ...objects.flatMap((object) => fieldRows(object, { prefix, when: whenOf(object) })),
  ];
}

/** The field whose value says which alternative it is, with all its values. */
function selectorRow(objects, prefix) {
  const [name] = selectorOf(objects[0]) ?? [];
  if (name === undefined) return [];
  const values = objects.flatMap((object) =>
    object.properties[name] ? [typeText(object.properties[name])] : [],
  );
  return [`| \`${prefix}${name}\` | ${values.join(' \\| ')} | yes |  |`];
}

/** When the fields of an alternative apply. */
function whenOf(object) {
  const [name, { const: value }] = selectorOf(object) ?? [undefined, {}];
  return name === undefined ? '' : `With \`${name}: ${JSON.stringify(value)}\`.`;
}

function selectorOf(object) {
  return Object.entries(object?.properties ?? {}).find(([, field]) => field.const !== undefined);
}

/** The objects a value may be: itself, the alternatives of a union, or what a list of them holds. */
function objectsIn(schema) {
  if (schema.properties) return [schema];
  const options = schema.anyOf ?? schema.oneOf ?? [];
  return options.flatMap((option) => objectsIn(option.type === 'array' ? (option.items ?? {}) : option));
}

function typeText(schema) {
  if (schema.$ref) return `[${idOf(schema.$ref)}](#${idOf(schema.$ref).toLowerCase()})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' \\| ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.map(typeText))].join(' \\| ');
  if (schema.type === 'array') {
    const item = typeText(schema.items ?? {});
    return item.includes('|') ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === 'object' && schema.additionalProperties?.type)
    return `map of ${typeText(schema.additionalProperties)}`;
  if (schema.contentEncoding) return schema.contentEncoding;
  if (schema.type === 'number' && schema.multipleOf === 1) return 'integer';
  if (Array.isArray(schema.type)) return schema.type.join(' \\| ');
  return schema.type ?? 'any';
}
