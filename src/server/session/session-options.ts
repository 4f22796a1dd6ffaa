import type { ServerInput } from '../../contract/index.js';
import type { ChangeSets, ProcessTableOptions } from '../../host/index.js';
import type { ByteBudget } from '../../rpc/index.js';
import type { DurableState } from '../durable/durable-state.js';
import type { ClientMessages } from '../network/client-messages.js';
import type { PushTarget } from '../push/output-pusher.js';
import type { ServerObserver } from '../server-events.js';
import type { ShowProcess } from './shown-processes.js';

/** What a session needs of its connection. */
export interface SessionConnection extends PushTarget {
  /** Another client wants the session: this connection must prove that it is alive. */
  probe(): void;
  readonly messages: ClientMessages;
}

export interface SessionOptions {
  readonly acknowledged: boolean;
  readonly principal: string | undefined;
  readonly table: ProcessTableOptions;
  readonly budget: ByteBudget;
  readonly input: ServerInput;
  /** Where changes are held; absent if there is no such place. */
  readonly changes?: ChangeSets | null | undefined;
  readonly durable?: DurableState | undefined;
  readonly observe?: ServerObserver | undefined;
  /** Lets other sessions of the same client view a process of this one. */
  readonly show?: ShowProcess | undefined;
  /** Of a session that an earlier server opened. */
  readonly id?: string;
}
