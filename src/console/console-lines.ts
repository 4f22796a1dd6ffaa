import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isExecError } from '../protocol/errors.js';
import type { ChannelReceiver } from '../rpc/index.js';
import { answerCrowded, type Door } from '../transport/door.js';
import { DEFAULT_LIVENESS, Liveness } from '../transport/liveness.js';
import { UnfinishedMessages } from '../transport/unfinished-messages.js';
import { WebSocketChannel } from '../transport/websocket-channel.js';
import { answerPings } from '../transport/websocket-pongs.js';
import type { ConsoleSession } from './console-sessions.js';
import type { ConsoleMachine } from './machine.js';
import type { MachineDirectory } from './machine-directory.js';
import { ViewOnlyChannel } from './view-only-channel.js';

/** Largest message of a page: as on any other listener. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** The subprotocol the page speaks; what else it offers proves who it is. */
const SUBPROTOCOL = 'execwire';
/** Connections of all viewers together: each has a session on a machine, and there must be some left for others. */
const MAX_VIEWER_LINES = 256;
/** Close codes (RFC 6455, and our own range). */
const TRY_AGAIN_LATER = 1013;
const SIGNED_OUT = 4401;
const UNREACHABLE = 4502;
const MAX_REASON_BYTES = 120;

interface ConsoleLinesOptions {
  readonly machines: MachineDirectory;
  readonly door: Door;
  /** How much of messages that have not ended is kept, of all pages together. */
  readonly maxUnfinishedBytes?: number | undefined;
}

/** Connections from pages to machines. */
export class ConsoleLines {
  readonly #machines: MachineDirectory;
  readonly #door: Door;
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  readonly #unfinished: UnfinishedMessages;
  #connections = 0;
  #viewers = 0;

  constructor({ machines, door, maxUnfinishedBytes }: ConsoleLinesOptions) {
    this.#machines = machines;
    this.#door = door;
    this.#unfinished = new UnfinishedMessages(maxUnfinishedBytes);
  }

  /** Connects a page to the machine its path names. Returns false if there is none. */
  connect(
    request: IncomingMessage,
    socket: Duplex,
    { head, session, path }: { head: Buffer; session: ConsoleSession; path: string },
  ): boolean {
    const machine = this.#machines.at(path);
    if (!machine) return false;
    const isViewer = session.role === 'view';
    if (!this.#door.hasRoom || (isViewer && this.#viewers >= MAX_VIEWER_LINES)) {
      answerCrowded(socket);
      return true;
    }
    this.#door.admit(socket);
    if (isViewer) {
      this.#viewers += 1;
      socket.once('close', () => (this.#viewers -= 1));
    }
    (socket as Socket).setNoDelay(true);
    this.#upgrader.handleUpgrade(request, socket, head, (webSocket) =>
      this.#serve(webSocket, socket, { machine, session }),
    );
    return true;
  }

  #serve(
    webSocket: WebSocket,
    stream: Duplex,
    { machine, session }: { machine: ConsoleMachine; session: ConsoleSession },
  ): void {
    // Nothing may arrive before the machine is reached.
    webSocket.pause();
    answerPings(webSocket);
    const liveness = new Liveness(webSocket, stream as Socket, DEFAULT_LIVENESS);
    this.#connections += 1;
    const label = `console#${this.#connections}`;
    const channel = new PageChannel(webSocket, label, { stream });
    this.#unfinished.watch(webSocket, stream, () => {
      end(webSocket, TRY_AGAIN_LATER, 'too many messages are unfinished');
      setImmediate(() => webSocket.terminate());
    });
    const stop = session.onOver(() => end(webSocket, SIGNED_OUT, 'signed out'));
    webSocket.on('close', stop);
    const served = session.role === 'view' ? new ViewOnlyChannel(channel) : channel;
    machine.serve(served, { probe: () => liveness.probe() }).catch((error: unknown) => {
      end(webSocket, UNREACHABLE, isExecError(error) ? error.message : 'the machine cannot be reached');
    });
  }
}

/** Leaves messages in the socket until there is a receiver. */
class PageChannel extends WebSocketChannel {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, label: string, options: { stream: Duplex }) {
    super(socket, label, options);
    this.#socket = socket;
  }

  override open(receiver: ChannelReceiver): void {
    super.open(receiver);
    this.resume();
    // The page may have left while its machine was being reached.
    if (this.#socket.readyState === this.#socket.CLOSED)
      setImmediate(() => receiver.closed({ clean: false, message: 'the page is gone' }));
  }
}

function end(webSocket: WebSocket, code: number, reason: string): void {
  webSocket.resume();
  webSocket.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString('utf8'));
}
