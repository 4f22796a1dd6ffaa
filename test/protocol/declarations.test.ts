import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { appDialect, execDialect } from '../../src/protocol/dialects.js';
import {
  appClientNotifications,
  appMethods,
  appServerNotifications,
  execClientNotifications,
  execMethods,
  execServerNotifications,
  type NotificationMethod,
  type RequestMethod,
} from '../../src/protocol/index.js';

type Declaration = RequestMethod | NotificationMethod;

const dialects: readonly [string, readonly string[], Readonly<Record<string, Declaration>>][] = [
  [
    'exec server',
    execDialect.base64Members,
    { ...execMethods, ...execClientNotifications, ...execServerNotifications },
  ],
  [
    'app server',
    appDialect.base64Members,
    { ...appMethods, ...appClientNotifications, ...appServerNotifications },
  ],
];

/** Members of an object that its schema says are base64. One in a list is no member of the message. */
function base64In(schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const isBase64 = (member: z.core.JSONSchema._JSONSchema): boolean =>
    typeof member === 'object' &&
    (member.contentEncoding === 'base64' || (member.anyOf ?? []).some(isBase64));
  return Object.keys(properties).filter((name) => isBase64(properties[name] ?? {}));
}

describe.each(dialects)('methods of an %s', (_name, base64Members, methods) => {
  test.each(Object.entries(methods))('%s declares its members that are bytes, and no others', (_, method) => {
    const { bytes, base64 } = method;
    const declared = (side: 'params' | 'result') =>
      [bytes?.[side], base64?.[side]].filter((name) => name !== undefined);
    expect(declared('params')).toEqual(base64In(method.params));
    expect(declared('result')).toEqual(base64In(method.kind === 'request' ? method.result : undefined));
  });

  test('the dialect knows all of them', () => {
    const all = Object.values(methods).flatMap((method) => [
      ...base64In(method.params),
      ...base64In(method.kind === 'request' ? method.result : undefined),
    ]);
    expect(new Set(base64Members)).toEqual(new Set(all));
    expect(all.length).toBeGreaterThan(0);
  });
});

/** What is added here is open to whoever has a link. */
test.each([
  ['process', 'initialize process/attach process/detach process/list process/read process/wait'],
  [
    'machine',
    'environment/info environment/status environment/usage process/history process/inspect process/lines process/search',
  ],
])('whoever views a %s may call no more than this', (what, names) => {
  const may = Object.entries(execMethods).filter(([, { viewing }]) => viewing === what);
  expect(may.map(([name]) => name).sort()).toEqual(names.split(' '));
});
