import { closeSync, readFileSync } from 'node:fs';
import { openBytes } from '../../host/index.js';
import type { PassedChannel } from '../../rpc/index.js';
import type { Connection } from '../connection.js';
import type { DescriptorKeeper, DurableState } from './durable-state.js';
import type { ConnectionRecord } from './records.js';
import { CONNECTION_KEY } from './adopt-state.js';

/** Of all connections together: what was read of them and not acted on, and what they were sent and has not left. */
const MAX_PASSED_BYTES = 64 * 1024 * 1024;
/** In front of the bytes of a connection: how many of them were read. The others are to be sent. */
const LENGTH_BYTES = 4;

/** Leaves to the next server what connections it can continue with. The others end with us, and their clients resume. */
export function passConnections(state: DurableState, connections: Iterable<Connection>): void {
  let count = 0;
  let room = MAX_PASSED_BYTES;
  for (const connection of connections) {
    const passed = connection.handOver();
    if (!passed || passed.unread.length + passed.unsent.length > room) continue;
    room -= passed.unread.length + passed.unsent.length;
    count += 1;
    state.note(`connection ${count}`, passed.record);
    pass(state.keeper, `${CONNECTION_KEY}${count}`, passed);
  }
}

function pass(
  keeper: DescriptorKeeper,
  key: string,
  { descriptor: socket, unread, unsent }: PassedChannel,
): void {
  if (unread.length + unsent.length === 0) return void keeper.pass(key, { socket });
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(unread.length);
  let bytes: number;
  try {
    bytes = openBytes(Buffer.concat([length, unread, unsent]));
  } catch {
    // There is no room for them.
    return;
  }
  keeper.pass(key, { socket, bytes });
  closeSync(bytes);
}

/** A connection that another server left. */
interface TakenConnection {
  readonly fd: number;
  readonly record: ConnectionRecord;
  readonly unread: Uint8Array;
  readonly unsent: Uint8Array;
}

/** No other server gets them. */
export function takePassed(state: DurableState): TakenConnection[] {
  const records = new Map([...state.journal.all('connection ')] as [string, ConnectionRecord][]);
  for (const name of records.keys()) state.forget(`connection ${name}`);
  return [...state.keeper.inherited].flatMap(([key, { descriptors, spoiled }]) => {
    if (!key.startsWith(CONNECTION_KEY)) return [];
    state.keeper.letGo(key);
    const { socket: fd, bytes } = descriptors;
    const record = records.get(key.slice(CONNECTION_KEY.length));
    const passed = readPassed(bytes, record);
    if (fd === undefined) return [];
    // Without a part of it, nothing is known of the rest.
    if (!record || spoiled) closeSync(fd);
    return record && !spoiled ? [{ fd, record, ...passed }] : [];
  });
}

function readPassed(
  file: number | undefined,
  record: ConnectionRecord | undefined,
): Pick<TakenConnection, 'unread' | 'unsent'> {
  if (file === undefined)
    return { unread: Buffer.from(record?.unread ?? '', 'base64'), unsent: Buffer.alloc(0) };
  const bytes = readFileSync(file);
  closeSync(file);
  const end = LENGTH_BYTES + bytes.readUInt32LE(0);
  return { unread: bytes.subarray(LENGTH_BYTES, end), unsent: bytes.subarray(end) };
}
