import { once } from 'node:events';
import { sandboxSupport } from '../host/index.js';
import { execDialect } from '../protocol/dialects.js';
import {
  execClientNotifications,
  ExecError,
  type ExecMethods,
  type ExecParsedParams,
  execMethods,
  type MethodTable,
  readStreamMessage,
} from '../protocol/index.js';
import {
  type Attachment,
  type CloseReason,
  type LineAccount,
  type Handlers,
  type OutgoingMessage,
  type PassedChannel,
  type PeerHandler,
  Router,
  RpcPeer,
  traced,
  validate,
} from '../rpc/index.js';
import type { ConnectionOptions } from './connection-options.js';
import { Belongings } from './durable/belongings.js';
import type { ConnectionRecord } from './durable/records.js';
import type { ConnectionContext } from './handlers/connection-context.js';
import { sessionHandlers } from './handlers/session-handlers.js';
import { Handshake, type HandshakeConnection } from './handshake.js';
import { Compression } from './push/compression.js';
import { PushQueue } from './push/push-queue.js';
import { ClientMessages } from './network/client-messages.js';
import { ResumeGate } from './resume-gate.js';
import { timed } from './request-time.js';
import type { Session } from './session.js';
import { requireViewing } from './shared-view.js';

/** By any name. */
const methods: MethodTable = execMethods;

/** One client: the handshake, then requests, until the channel ends. */
export class Connection implements HandshakeConnection {
  readonly queue: PushQueue;
  readonly account: LineAccount;
  readonly compression: Compression | undefined;
  readonly messages: ClientMessages;
  readonly #options: ConnectionOptions;
  readonly #peer: RpcPeer;
  readonly #router: Router<ExecMethods>;
  readonly #handshake: Handshake;
  /** Aborted when the channel has ended, to release the connection's file handles, watches and streams. */
  readonly #gone = new AbortController();
  readonly #resuming = new ResumeGate();
  /** The trace of the request being dispatched. */
  #trace: string | undefined;
  #stopShare: (() => void) | undefined;
  readonly #belongings = new Belongings();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#handshake = new Handshake(options, this);
    this.compression = options.channel.inflates ? new Compression() : undefined;
    this.#router = new Router({
      table: methodsOffered(options),
      handlers: this.#handlers(),
      admit: (method, params) => this.#handshake.admit(method, params),
    });
    const handler: PeerHandler = {
      request: (method, params, attached, { slot, trace }) => {
        if (options.share) requireViewing(options.share, method, params);
        const run = (): unknown => this.#router.dispatch(method, params, attached, slot);
        const go = (): unknown => (trace === undefined ? run() : this.#traced(method, trace, run));
        return timed(method, options.timeRequest, () => this.#resuming.pass(go));
      },
      notification: (method, params, attached) => this.#notified(method, params, attached),
      isRepeatable: (method) => methods[method]?.idempotent ?? false,
      closed: (reason) => this.#ended(reason),
    };
    this.#peer = new RpcPeer(options.channel, handler, { dialect: execDialect, budget: options.budget });
    this.account = this.#peer.account;
    this.messages = new ClientMessages(this.#peer);
    this.queue = new PushQueue(this.#peer.outbox);
    // The handshake answer needs this, so it is probed while the request is in flight. A failure is reported there.
    sandboxSupport().catch(() => undefined);
    this.#stopShare = options.share?.onOver(() => this.#shareOver());
    if (options.handshake) this.#continue(options.handshake);
    this.#peer.open();
    options.log.debug({ connection: options.channel.label }, 'connected');
  }

  get sendsBytes(): boolean {
    return this.#peer.sendsBytes;
  }

  useBinaryFrames(used: boolean): void {
    this.#peer.acceptsBytes = used;
    this.#peer.sendsBytes = used;
  }

  get trace(): string | undefined {
    return this.#trace;
  }

  send(message: OutgoingMessage, flushed?: () => void): void {
    this.#peer.send(message, flushed);
  }

  probe(): void {
    this.#options.probe();
  }

  /** Pushes and reads nothing more. Resolves when every request that its client could not repeat is answered. */
  rest(): Promise<void> {
    this.queue.rest();
    return this.#peer.rest();
  }

  /** Whether every such request is answered. */
  get isAtRest(): boolean {
    return this.#peer.isAtRest && this.#resuming.isOpen;
  }

  /** What another server needs to continue with this connection, if it rests and that is possible. */
  handOver(): (PassedChannel & { record: ConnectionRecord }) | null {
    const { door, principal, share } = this.#options;
    const session = this.#handshake.session;
    const isIdle = this.isAtRest && this.queue.isAtRest && this.#belongings.canBeLeft;
    if (door === undefined || principal === undefined || share || !isIdle || session?.canBeLeft === false)
      return null;
    const passed = this.#peer.handOver();
    if (!passed) return null;
    const { missingWatch } = this.#belongings;
    const known = this.#handshake.record();
    const handshake = known && { ...known, missingWatch };
    return { ...passed, record: { door, principal, handshake } };
  }

  /** Continues where another server stopped. */
  #continue(handshake: NonNullable<ConnectionRecord['handshake']>): void {
    if (!this.#handshake.continueWith(handshake)) {
      // Its client has to reconnect and learn that there is no such session.
      setImmediate(() => void this.close('the session is gone'));
      return;
    }
    if (handshake.missingWatch) void this.#watchAgain(handshake.missingWatch);
  }

  async #watchAgain(params: ExecParsedParams<'fs/watchMissing'>): Promise<void> {
    const isWatched = await this.#belongings.watchAgain(params);
    if (!isWatched) this.#peer.notify('fs/missingChanged', { watchId: params.watchId });
  }

  get unsentBytes(): number {
    return this.#peer.outbox.pendingBytes;
  }

  /** Resolves when the channel has ended. */
  close(reason: string): Promise<void> {
    const { signal } = this.#gone;
    const gone = signal.aborted ? Promise.resolve() : once(signal, 'abort').then(() => undefined);
    this.#peer.close(reason);
    return gone;
  }

  /** Resolves when everything there is for the client has been sent. */
  pushed(): Promise<void> {
    return this.queue.pushed();
  }

  #handlers(): Handlers<ExecMethods> {
    return {
      initialize: (params) => {
        const answer = this.#handshake.initialize(params);
        if (params.resumeSessionId != null) this.#resuming.holdUntil(answer);
        return answer;
      },
      ...sessionHandlers(this.#options, {
        session: () => this.#handshake.requireSession(),
        context: this.#context(),
      }),
    };
  }

  #context(): ConnectionContext {
    return {
      notify: (method, params) => {
        this.#peer.notify(method, params);
        return this.#peer.outbox.room();
      },
      openStream: () => {
        const stream = this.queue.openStream();
        return {
          notify: (method, params) => stream.push(() => this.#peer.notify(method, params)),
          close: () => stream.close(),
        };
      },
      unsentBytes: () => this.#peer.outbox.pendingBytes,
      owns: this.#belongings.owns,
      watchesMissing: this.#belongings.watchesMissing,
      signal: this.#gone.signal,
    };
  }

  /** Adds the trace id to whatever is logged for the request. */
  #traced(method: string, trace: string, run: () => unknown): unknown {
    const { log, channel } = this.#options;
    this.#trace = trace;
    try {
      return traced({ log, connection: channel.label, method, trace }, run);
    } finally {
      this.#trace = undefined;
    }
  }

  #notified(method: string, params: unknown, attached?: Attachment): void {
    const { session, sendsEarly } = this.#handshake;
    const message = session && readStreamMessage(method, params, attached?.bytes);
    if (message) {
      session.streams.receive(message);
      if (message.kind === 'data') this.#options.garbage.noteBuffers(message.bytes.length);
    } else if (method === 'initialized' && session) {
      this.#handshake.initialized();
    } else if (method === 'process/ack' && session?.acknowledged) {
      const { processId, seq } = validate(execClientNotifications['process/ack'].params, params);
      session.acknowledge(processId, seq);
    } else if (method === 'session/end' && session) {
      this.#endSession(session);
    } else if (session || !sendsEarly) {
      this.#peer.violation(new ExecError('protocolViolation', 'unexpected notification'));
    }
  }

  /** Its viewer is gone and will not reconnect. */
  #shareOver(): void {
    const { session } = this.#handshake;
    if (session) this.#endSession(session);
    void this.close('the share is over');
  }

  /** The client will not return to this session. Closing the connection is up to the client. */
  #endSession(session: Session): void {
    const { sessions, log, channel } = this.#options;
    log.info({ connection: channel.label, session: session.id }, 'session ended by its client');
    this.#handshake.leaveSession();
    void sessions.end(session);
  }

  #ended(reason: CloseReason): void {
    const { sessions, log, channel, resumable } = this.#options;
    this.queue.close();
    this.#stopShare?.();
    this.#gone.abort();
    log.debug({ connection: channel.label, reason: reason.message }, 'disconnected');
    const { session } = this.#handshake;
    if (session && resumable) sessions.detach(session);
    else if (session) void sessions.end(session);
    this.#options.closed();
  }
}

/** Methods that are switched off are unknown. */
function methodsOffered({ http }: { http: boolean }): ExecMethods {
  if (http) return execMethods;
  const { 'http/request': _, ...rest } = execMethods;
  // The router looks methods up by name, so the handler of the missing one is never reached.
  return rest as ExecMethods;
}
