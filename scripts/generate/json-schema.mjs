import { methodsOf, payloadDefinitions } from './definitions.mjs';

const ref = (id) => ({ $ref: `#/$defs/${id}` });

const ENVELOPE = {
  RequestId: { anyOf: [{ type: 'string' }, { type: 'integer' }], description: 'Chosen by whoever asks.' },
  Response: {
    type: 'object',
    properties: {
      id: ref('RequestId'),
      result: { description: 'What the method of the request with this id says: see `…Result`.' },
    },
    required: ['id', 'result'],
    description: 'The answer to a request.',
  },
  ErrorResponse: {
    type: 'object',
    properties: {
      id: { anyOf: [ref('RequestId'), { type: 'null' }] },
      error: {
        type: 'object',
        properties: {
          code: { type: 'integer' },
          message: { type: 'string' },
          data: { description: '`data.code` holds the stable name of the error.' },
        },
        required: ['code', 'message'],
      },
    },
    required: ['id', 'error'],
    description: 'The answer to a request that failed.',
  },
};

/** A JSON Schema of every message of a dialect. Each message and each payload has a name under `$defs`. */
export function jsonSchema(dialect) {
  const methods = methodsOf(dialect);
  const namesOf = (kind) => methods.filter((each) => each.kind === kind).map(messageName);
  const asked = namesOf('serverRequest');
  const union = (names) => ({ anyOf: names.map(ref) });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:execwire:${dialect.name}`,
    title: `${dialect.title.replace(' methods', '')} message`,
    ...union([
      'ClientRequest',
      'ClientNotification',
      'ServerNotification',
      ...(asked.length > 0 ? ['ServerRequest'] : []),
      'Response',
      'ErrorResponse',
    ]),
    $defs: {
      ClientRequest: union(namesOf('request')),
      ClientNotification: union(namesOf('clientNotification')),
      ServerNotification: union(namesOf('serverNotification')),
      ...(asked.length > 0 ? { ServerRequest: union(asked) } : {}),
      ...ENVELOPE,
      ...Object.fromEntries(methods.map((each) => [messageName(each), message(each)])),
      ...payloadDefinitions(dialect, (id) => ref(id).$ref),
    },
  };
}

/** Of either side. */
function isRequest(kind) {
  return kind === 'request' || kind === 'serverRequest';
}

function messageName({ typeName, kind }) {
  return `${typeName}${isRequest(kind) ? 'Request' : 'Notification'}`;
}

function message({ method, kind, typeName, declaration }) {
  // A method whose parameters may be null can do without them.
  const optional = declaration.params.safeParse(undefined).success;
  return {
    type: 'object',
    properties: {
      ...(isRequest(kind) ? { id: ref('RequestId') } : {}),
      method: { type: 'string', const: method },
      params: ref(`${typeName}Params`),
    },
    required: [...(isRequest(kind) ? ['id'] : []), 'method', ...(optional ? [] : ['params'])],
    description: declaration.doc,
  };
}
