import { closeSync } from 'node:fs';
import type { Connection } from '../connection.js';
import type { DurableState } from './durable-state.js';
import type { ConnectionRecord } from './records.js';
import { CONNECTION_KEY } from './take-up.js';

/** Leaves to the next server what connections it can continue with. The others end with us, and their clients resume. */
export function passConnections(state: DurableState, connections: Iterable<Connection>): void {
  let count = 0;
  for (const connection of connections) {
    const passed = connection.handOver();
    if (!passed) continue;
    count += 1;
    state.note(`connection ${count}`, passed.record);
    state.keeper.hold(`${CONNECTION_KEY}${count}`, { socket: passed.descriptor });
  }
}

/** The connections that another server left. Nobody else gets them. */
export function takePassed(state: DurableState): { fd: number; record: ConnectionRecord }[] {
  const records = new Map([...state.journal.all('connection ')] as [string, ConnectionRecord][]);
  for (const name of records.keys()) state.forget(`connection ${name}`);
  return [...state.keeper.inherited].flatMap(([key, { descriptors }]) => {
    const { socket: fd } = descriptors;
    if (!key.startsWith(CONNECTION_KEY) || fd === undefined) return [];
    state.keeper.letGo(key);
    const record = records.get(key.slice(CONNECTION_KEY.length));
    if (!record) closeSync(fd);
    return record ? [{ fd, record }] : [];
  });
}
