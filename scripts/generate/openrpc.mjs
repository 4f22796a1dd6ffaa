import { readFileSync } from 'node:fs';
import { methodsOf, payloadDefinitions } from './definitions.mjs';

const refTo = (id) => `#/components/schemas/${id}`;

/**
 * The methods of a dialect as an OpenRPC document. What a server sends by itself is under `x-notifications` and
 * `x-server-requests`.
 */
export function openRpc(dialect) {
  const methods = methodsOf(dialect);
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const schemas = payloadDefinitions(dialect, refTo);
  const asked = methods.filter(({ kind }) => kind === 'serverRequest');
  const describe = (each) => methodObject(each, schemas);
  return {
    openrpc: '1.3.2',
    info: { title: dialect.title.replace(' methods', ''), version, description: dialect.intro },
    methods: methods.filter(({ kind }) => !kind.startsWith('server')).map(describe),
    components: { schemas },
    'x-notifications': methods.filter(({ kind }) => kind === 'serverNotification').map(describe),
    ...(asked.length > 0 ? { 'x-server-requests': asked.map(describe) } : {}),
  };
}

function methodObject({ method, typeName, kind, declaration }, schemas) {
  const { doc, extension, bytes } = declaration;
  const result = { name: `${typeName}Result`, schema: { $ref: refTo(`${typeName}Result`) } };
  return {
    name: method,
    description: doc,
    paramStructure: 'by-name',
    params: parameters(resolved(schemas[`${typeName}Params`], schemas)),
    // Without a result it is a notification.
    ...(kind === 'request' || kind === 'serverRequest' ? { result } : {}),
    ...(extension ? { 'x-extension': extension } : {}),
    ...(bytes ? { 'x-bytes': bytes } : {}),
  };
}

/** Methods with the same payload share its schema. */
function resolved(schema, schemas) {
  return schema.$ref ? schemas[schema.$ref.slice(refTo('').length)] : schema;
}

/** One descriptor for each member. Members of members stay where they are. */
function parameters(schema) {
  const object = [schema, ...(schema.anyOf ?? [])].find(({ type }) => type === 'object') ?? {};
  const required = new Set(object.required ?? []);
  return Object.entries(object.properties ?? {}).map(([name, { description, ...member }]) => ({
    name,
    ...(description ? { description } : {}),
    required: required.has(name),
    schema: member,
  }));
}
