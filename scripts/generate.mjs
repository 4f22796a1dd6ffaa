// Writes what is derived from the protocol declarations: schema/*.json and docs/reference/*.md.
// With --check it writes nothing and fails when a file differs from a fresh run.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import * as protocol from '../dist/protocol/index.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The dialects of the wire. Each becomes one schema file and one page. */
const dialects = [
  {
    name: 'exec-server',
    title: 'Exec server methods',
    intro:
      'What `execwire serve` speaks, and what the client library calls. Methods and fields marked as an *extension* are announced in the `initialize` result; the rest is common to every exec server.',
    requests: protocol.execMethods,
    fromClient: protocol.execClientNotifications,
    fromServer: protocol.execServerNotifications,
  },
  {
    name: 'app-server',
    title: 'App server methods',
    intro:
      'What `execwire app-server` speaks to editors and desktop apps. `process/*`, `environment/*` and `permissionProfile` need `capabilities.experimentalApi` in `initialize`. Everything that does not decode, unknown methods included, is answered with -32600; notifications from the server carry `emittedAtMs` beside `params`.',
    requests: protocol.appMethods,
    fromClient: protocol.appClientNotifications,
    fromServer: protocol.appServerNotifications,
  },
];

function jsonSchema(schema) {
  // Input mode: defaults may be left out. What JSON Schema cannot say (any value) is left open.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

function describe({ doc, extension, bytes, params, result }) {
  return {
    description: doc,
    ...(extension ? { extension } : {}),
    ...(bytes ? { bytes } : {}),
    params: jsonSchema(params),
    ...(result ? { result: jsonSchema(result) } : {}),
  };
}

const mapValues = (table, transform) =>
  Object.fromEntries(Object.entries(table).map(([name, declaration]) => [name, transform(declaration)]));

function schemaFile(dialect) {
  const file = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: dialect.title,
    requests: mapValues(dialect.requests, describe),
    clientNotifications: mapValues(dialect.fromClient, describe),
    serverNotifications: mapValues(dialect.fromServer, describe),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function typeText(schema) {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' \\| ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map(typeText).join(' \\| ');
  if (schema.type === 'array') return `${typeText(schema.items ?? {})}[]`;
  if (schema.type === 'object' && schema.additionalProperties?.type)
    return `map of ${typeText(schema.additionalProperties)}`;
  if (schema.contentEncoding) return schema.contentEncoding;
  if (schema.type === 'number' && schema.multipleOf === 1) return 'integer';
  if (Array.isArray(schema.type)) return schema.type.join(' \\| ');
  return schema.type ?? 'any';
}

/** One row per field; fields of nested objects follow their parent. */
function fieldRows(schema, prefix = '') {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const nested =
      [field, ...(field.anyOf ?? [])].find((option) => option.properties) ??
      (field.items?.properties ? field.items : undefined);
    const label = `${prefix}${name}`;
    const needed = required.has(name)
      ? 'yes'
      : field.default === undefined
        ? ''
        : `default \`${JSON.stringify(field.default)}\``;
    const row = `| \`${label}\` | ${typeText(field)} | ${needed} | ${field.description ?? ''} |`;
    return [row, ...(nested ? fieldRows(nested, `${label}${field.type === 'array' ? '[]' : ''}.`) : [])];
  });
}

function fieldTable(title, schema) {
  const rows = fieldRows(schema);
  if (rows.length === 0) return [];
  return ['', `**${title}**`, '', '| field | type | required | |', '|---|---|---|---|', ...rows];
}

function methodSection([name, declaration]) {
  const { params, result, extension, bytes, description } = describe(declaration);
  const bulk = bytes ? ` With \`binaryFrames\` \`${bytes.params ?? bytes.result}\` may travel as bytes.` : '';
  return [
    '',
    `### ${name}`,
    '',
    `${description}${extension ? ` *Extension: \`${extension}\`.*` : ''}${bulk}`,
    ...fieldTable('Parameters', params),
    ...(result ? fieldTable('Result', result) : []),
  ];
}

function referencePage(dialect) {
  const sections = [
    ['Requests', dialect.requests],
    ['Notifications from the client', dialect.fromClient],
    ['Notifications from the server', dialect.fromServer],
  ];
  const lines = [
    `# ${dialect.title}`,
    '',
    '<!-- Generated from src/protocol by `npm run generate`. -->',
    '',
    dialect.intro,
    ...sections.flatMap(([title, table]) => [
      '',
      `## ${title}`,
      ...Object.entries(table).flatMap(methodSection),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function errorPage() {
  const rows = Object.entries(protocol.errorCatalogue).map(
    ([code, { rpc, doc }]) => `| \`${code}\` | ${rpc ?? '–'} | ${doc} |`,
  );
  const lines = [
    '# Errors',
    '',
    '<!-- Generated from src/protocol by `npm run generate`. -->',
    '',
    'Every error is an `ExecError` with a stable `code`; test it with `isExecError(error, code)`. On the wire the',
    'number is the JSON-RPC error code and `data.code` carries the name. Errors without a number arise on the',
    'side of the caller and never travel.',
    '',
    '| code | number | when |',
    '|---|---|---|',
    ...rows,
  ];
  return `${lines.join('\n')}\n`;
}

const files = new Map([
  ...dialects.map((dialect) => [`schema/${dialect.name}.json`, schemaFile(dialect)]),
  ...dialects.map((dialect) => [`docs/reference/${dialect.name}.md`, referencePage(dialect)]),
  ['docs/reference/errors.md', errorPage()],
]);

function existingFiles() {
  return ['schema', 'docs/reference'].flatMap((folder) => {
    mkdirSync(join(root, folder), { recursive: true });
    return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
  });
}

const stale = existingFiles().filter((name) => !files.has(name));
if (process.argv.includes('--check')) {
  const present = new Set(existingFiles());
  const different = [...files].filter(
    ([name, text]) => !present.has(name) || readFileSync(join(root, name), 'utf8') !== text,
  );
  const wrong = [...stale, ...different.map(([name]) => name)];
  if (wrong.length > 0) {
    console.error(`Generated files are out of date: ${wrong.join(', ')}. Run: npm run generate`);
    process.exit(1);
  }
} else {
  for (const name of stale) rmSync(join(root, name));
  for (const [name, text] of files) writeFileSync(join(root, name), text);
}
