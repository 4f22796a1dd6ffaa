import { appClientNotifications, appMethods, appServerNotifications } from './app/table.js';
import { execClientNotifications, execMethods, execServerNotifications } from './exec/table.js';
import type { MethodTable, NotificationTable } from './method.js';

/** How the protocols differ below their methods. */
export interface Dialect {
  /** How to treat a message that cannot be parsed: answer it under the id -1, or drop it. */
  readonly brokenMessages: 'answered' | 'dropped';
  /** How to treat a message with a method whose `id` is neither a string nor a 64-bit integer. */
  readonly unusableIds: 'broken' | 'notification';
  /** Members of `params` or `result` that carry base64, in any method. */
  readonly base64Members: readonly string[];
}

/** The conventions of exec servers. */
export const execDialect: Dialect = {
  brokenMessages: 'answered',
  unusableIds: 'broken',
  base64Members: base64Members(execMethods, execClientNotifications, execServerNotifications),
};

/** The conventions of app servers: unreadable messages are dropped, and without a usable id there is no answer. */
export const appDialect: Dialect = {
  brokenMessages: 'dropped',
  unusableIds: 'notification',
  base64Members: base64Members(appMethods, appClientNotifications, appServerNotifications),
};

function base64Members(...tables: readonly (MethodTable | NotificationTable)[]): string[] {
  const names = tables
    .flatMap((table) => Object.values(table))
    .flatMap(({ bytes, base64 }) => [bytes?.params, bytes?.result, base64?.params, base64?.result]);
  return [...new Set(names)].filter((name) => name !== undefined);
}
