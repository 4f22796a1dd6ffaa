import { readFileSync } from 'node:fs';
import openRpcMetaSchema from '@open-rpc/meta-schema';
import addFormats from 'ajv-formats';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import {
  appClientNotifications,
  appMethods,
  appServerNotifications,
  execClientNotifications,
  execMethods,
  execServerNotifications,
} from '../../src/protocol/index.js';
import { type JsonSchema, sampleOf } from '../harness/json-schema.js';
import { methodsIn, readSchema } from '../harness/schema-file.js';

const dialects = [
  ['exec-server', execMethods, { ...execClientNotifications, ...execServerNotifications }],
  ['app-server', appMethods, { ...appClientNotifications, ...appServerNotifications }],
] as const;

/** Every keyword is known to the validator, and every reference leads somewhere: it is strict about that. */
function strictValidator(schema: object): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  // The package's types are those of CommonJS.
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  return ajv.addSchema(schema);
}

const typeName = (method: string): string =>
  method
    .split('/')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

/** Parameters that lack a member they need, or have one of another kind. */
function wrongVersions(params: JsonSchema): unknown[] {
  const right = sampleOf(params);
  if (typeof right !== 'object' || right === null) return [17, 'text', []];
  const without = (params.required ?? []).map((name) => {
    const { [name]: _left, ...rest } = right as Record<string, unknown>;
    return rest;
  });
  const odd = Object.entries(params.properties ?? {})
    .filter(([, member]) =>
      Object.keys(member).some((keyword) => /^(type|anyOf|oneOf|enum|const)$/.test(keyword)),
    )
    .map(([name]) => ({ ...right, [name]: { unexpected: [{}] } }));
  return [17, 'text', [], ...without, ...odd];
}

describe.each(dialects)('schema/%s.json', (name, requests, notifications) => {
  const file = readSchema(name);
  const ajv = strictValidator(file);
  const find = (path: string) => ajv.getSchema(`urn:execwire:${name}${path}`) ?? expect.fail(`no ${path}`);
  const whole = find('');
  const definition = (id: string) => find(`#/$defs/${id}`);
  const payloads = methodsIn<JsonSchema>(name);

  test('names every method', () => {
    expect(Object.keys(payloads.requests).sort()).toEqual(Object.keys(requests).sort());
  });

  test.each(Object.entries(requests))(
    '%s: accepts what the server takes, and refuses what it refuses',
    (method, declaration) => {
      const params = payloads.requests[method]?.params ?? {};
      const message = (sent: unknown) => ({ id: 1, method, params: sent });
      expect([method, whole(message(sampleOf(params))), whole.errors]).toEqual([method, true, null]);
      const validate = definition(`${typeName(method)}Request`);
      const wrong = wrongVersions(params);
      const verdicts = wrong.map((sent) => ({ sent, taken: declaration.params.safeParse(sent).success }));
      expect(wrong.map((sent) => ({ sent, taken: validate(message(sent)) }))).toEqual(verdicts);
      expect(verdicts.some(({ taken }) => !taken)).toBe(true);
      // Another method's parameters do not pass under this name by way of the union of all.
      for (const { sent, taken } of verdicts) if (!taken) expect(whole(message(sent))).toBe(false);
      expect(validate({ method, params: sampleOf(params) })).toBe(false);
    },
  );

  test.each(Object.entries(notifications))('%s: a notification', (method, declaration) => {
    const validate = definition(`${typeName(method)}Notification`);
    const { params = {} } = payloads.serverNotifications[method] ?? {};
    const right =
      method in payloads.serverNotifications ? sampleOf(params) : sampleOf(paramsOf(file, method));
    expect([method, validate({ method, params: right }), validate.errors]).toEqual([method, true, null]);
    expect(declaration.params.safeParse(right).success).toBe(true);
    expect(validate({ method: 'unheard/of', params: right })).toBe(false);
    expect(validate({ method, params: 17 })).toBe(declaration.params.safeParse(17).success);
  });

  test('an unknown method is no message', () => {
    expect(whole({ id: 1, method: 'no/such', params: {} })).toBe(false);
    expect(whole({ id: 1, result: {} })).toBe(true);
    expect(whole({ id: 1, error: { code: -32600, message: 'no' } })).toBe(true);
    expect(whole({ id: 1, error: { message: 'no' } })).toBe(false);
  });
});

function paramsOf(file: { readonly $defs: Readonly<Record<string, unknown>> }, method: string): JsonSchema {
  return file.$defs[`${typeName(method)}Params`] ?? {};
}

describe.each(dialects)('schema/%s.openrpc.json', (name, requests) => {
  const path = new URL(`../../schema/${name}.openrpc.json`, import.meta.url);
  const document = JSON.parse(readFileSync(path, 'utf8')) as {
    methods: { name: string; params: { name: string; required: boolean }[] }[];
    components: { schemas: Record<string, unknown> };
  };

  test('is an OpenRPC document', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // What a schema within the document must be; the one it names is not published as a package of its own.
    for (const $id of ['https://meta.json-schema.tools/', 'https://meta.json-schema.tools']) {
      const definitions = { JSONSchemaObject: { properties: { $ref: { type: 'string' } } } };
      ajv.addSchema({ allOf: [{ $ref: 'http://json-schema.org/draft-07/schema#' }], definitions }, $id);
    }
    const { $schema: _dialect, ...metaSchema } = openRpcMetaSchema as Record<string, unknown>;
    const validate = ajv.compile(metaSchema);
    expect([validate(document), validate.errors]).toEqual([true, null]);
  });

  test('has every request, and every reference in it leads somewhere', () => {
    const names = document.methods.map((method) => method.name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(requests)));
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    const missing = references.map(([, id = '']) => id).filter((id) => !(id in document.components.schemas));
    expect(missing).toEqual([]);
  });
});
