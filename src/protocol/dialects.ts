import { appClientNotifications, appMethods, appServerNotifications } from './app/table.js';
import { execClientNotifications, execMethods, execServerNotifications } from './exec/table.js';
import type { MethodTable, NotificationTable } from './method.js';

/** In what the protocols differ below their methods. */
export interface Dialect {
  /** What happens to a message nobody can understand: an answer under the id -1, or nothing. */
  readonly brokenMessages: 'answered' | 'dropped';
  /** What an `id` that is neither a string nor a 64-bit integer makes of a message with a method. */
  readonly unusableIds: 'broken' | 'notification';
  /** Members of `params` or `result` under which bytes travel in base64, in any method. */
  readonly base64Members: readonly string[];
}

/** How exec servers talk. */
export const execDialect: Dialect = {
  brokenMessages: 'answered',
  unusableIds: 'broken',
  base64Members: base64Members(execMethods, execClientNotifications, execServerNotifications),
};

/** How app servers talk: messages nobody can read vanish, and what has no usable id cannot be answered. */
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
