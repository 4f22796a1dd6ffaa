import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SideService } from '../../transport/index.js';
import { refuse } from '../../transport/refuse-upgrade.js';
import { bearerToken } from '../../transport/websocket-auth.js';
import { Line } from '../relay/line.js';
import { MAX_FRAME_BYTES } from '../relay/relay-frame.js';
import { isSameKey, SECURITY_PROFILE } from '../public-key.js';
import { bodyOf, type Call, CALL_PATH, callOf, ConnectBody, RegisterBody, ValidateBody } from './calls.js';
import { ClientLine } from './client-line.js';
import { MachineLine } from './machine-line.js';
import { Refusal, sendJson, sendRefusal, unattached } from './refusal.js';
import { Registrations } from './registrations.js';
import type { RegistryTokens, TokenBearer } from './registry-tokens.js';
import { digestOf } from './secret.js';
import { Tickets } from './tickets.js';

const RENDEZVOUS_PATH = '/cloud/rendezvous/';

export interface RegistryOptions {
  readonly tokens: RegistryTokens;
  /** The URL under which machines and clients reach this service, `https://HOST/PREFIX`, if it differs from the one they use. */
  readonly publicUrl?: string | undefined;
  readonly log?: { info(details: object, message: string): void } | undefined;
}

/** A machine that has registered. */
export interface RegisteredMachine {
  readonly id: string;
  /** `away`: its connection is gone. It is forgotten two minutes later. */
  readonly state: 'connected' | 'away';
  readonly clients: number;
  /** For how long it has been in this state. */
  readonly sinceMs: number;
  /** Its address for clients, if the public address of the registry is known. */
  readonly url?: string;
}

/**
 * Connects clients to machines that only dial out, with Codex's protocol, and relays what they send to each other. It knows
 * their public keys, but cannot read anything.
 */
export class Registry implements SideService {
  readonly #options: RegistryOptions;
  readonly #registrations = new Registrations();
  readonly #tickets = new Tickets();
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    autoPong: false,
  });

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  serves(path: string): boolean {
    return path.startsWith(CALL_PATH) || path.startsWith(RENDEZVOUS_PATH);
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    this.#call(request).then(
      (result) => sendJson(response, 200, result),
      (error: unknown) => sendRefusal(response, error),
    );
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, admit: () => boolean): void {
    const [, role, secret = ''] =
      /^\/cloud\/rendezvous\/(machine|client)\/([\w-]+)$/.exec(request.url ?? '') ?? [];
    const meet = role === 'machine' ? this.#machineAt(secret) : this.#clientAt(secret);
    if (meet instanceof Refusal) return refuse(socket, meet.status, meet.message);
    if (!admit()) return;
    // Without this, small messages wait for the acknowledgement of the previous one (40 ms each).
    if ('setNoDelay' in socket) (socket as Socket).setNoDelay(true);
    this.#upgrader.handleUpgrade(request, socket, head, (webSocket: WebSocket) =>
      // Both a TCP and a unix socket, encrypted or not.
      meet(new Line(webSocket, socket as Socket)),
    );
  }

  /** The machines that are here, or were a moment ago. */
  machines(): RegisteredMachine[] {
    const { publicUrl } = this.#options;
    return this.#registrations.current().map(({ environmentId, line, sinceMs }) => ({
      id: environmentId,
      state: line ? ('connected' as const) : ('away' as const),
      clients: line?.clientCount ?? 0,
      sinceMs: Math.round(performance.now() - sinceMs),
      ...(publicUrl === undefined
        ? {}
        : { url: `${publicUrl.replace(/\/+$/, '')}${CALL_PATH}${environmentId}` }),
    }));
  }

  /** Disconnects everyone whose permission is gone. Call when tokens have changed. */
  review(): void {
    this.#registrations.review();
  }

  /** Disconnects everyone. */
  close(): void {
    this.#tickets.close();
    this.#registrations.close();
  }

  async #call(request: IncomingMessage): Promise<object> {
    const call = callOf(request);
    if (call.verb === 'connect') return await this.#connect(call, request);
    const executor = this.#bearer(request, call, 'executorOf');
    return call.verb === 'register'
      ? await this.#register(call, request, executor)
      : await this.#validate(call, request, executor);
  }

  #bearer({ headers }: IncomingMessage, { environmentId }: Call, find: keyof RegistryTokens): TokenBearer {
    const token = bearerToken(headers.authorization ?? '');
    const bearer = token === undefined ? undefined : this.#options.tokens[find](token);
    if (!bearer) throw new Refusal(401, 'unauthorized', 'This registry does not know the token.');
    if (bearer.may(environmentId)) return bearer;
    throw new Refusal(403, 'forbidden', 'The token gives no access to this environment.');
  }

  async #register({ environmentId }: Call, request: IncomingMessage, executor: TokenBearer): Promise<object> {
    const { executor_public_key: publicKey } = await bodyOf(request, RegisterBody);
    const { registration, secret } = this.#registrations.add({ environmentId, executor, publicKey });
    this.#options.log?.info(
      { environment: environmentId, executor: executor.name },
      'a machine has registered',
    );
    return {
      environment_id: environmentId,
      url: this.#urlFor(request, `machine/${secret}`),
      security_profile: SECURITY_PROFILE,
      executor_registration_id: registration.id,
    };
  }

  async #connect(call: Call, request: IncomingMessage): Promise<object> {
    const client = this.#bearer(request, call, 'clientOf');
    const { harness_public_key: publicKey } = await bodyOf(request, ConnectBody);
    const registration = this.#registrations.connected(call.environmentId);
    if (!registration) throw unattached();
    const { secret, authorization } = this.#tickets.issue({ registration, client, publicKey });
    return {
      environment_id: call.environmentId,
      url: this.#urlFor(request, `client/${secret}`),
      security_profile: SECURITY_PROFILE,
      executor_registration_id: registration.id,
      executor_public_key: registration.publicKey,
      harness_key_authorization: authorization,
    };
  }

  /** Answers a machine that asks about a connected client. The client's key was verified when it connected. */
  async #validate({ environmentId }: Call, request: IncomingMessage, executor: TokenBearer): Promise<object> {
    const body = await bodyOf(request, ValidateBody);
    const registration = this.#registrations.connected(environmentId);
    if (registration?.id !== body.executor_registration_id || registration.executor !== executor)
      throw new Refusal(404, 'unknown_registration', 'This registration is not in use.');
    const client = registration.line.clientWith(digestOf(body.harness_key_authorization));
    const streamId = request.headers['x-codex-noise-stream-id'] ?? client?.streamId;
    if (
      !client ||
      streamId !== client.streamId ||
      !isSameKey(client.grant.publicKey, body.harness_public_key)
    )
      return { valid: false };
    client.introduced();
    // The name is for our machines; others ignore it.
    return { valid: true, client: client.grant.client.name };
  }

  #machineAt(secret: string): ((line: Line) => void) | Refusal {
    const registration = this.#registrations.bySecret(secret);
    // After this answer, machines register again.
    if (!registration) return new Refusal(404, 'not_found', 'this registration is unknown');
    // After this one, they do not.
    if (registration.isSuperseded)
      return new Refusal(503, 'superseded', 'another machine has registered with this id');
    const { environmentId: environment, executor } = registration;
    return (line) => {
      const machine = new MachineLine(line, (self) => {
        this.#registrations.detach(registration, self);
        this.#options.log?.info({ environment, executor: executor.name }, 'a machine is gone');
      });
      this.#registrations.attach(registration, machine);
      this.#options.log?.info({ environment, executor: executor.name }, 'a machine is connected');
    };
  }

  #clientAt(secret: string): ((line: Line) => void) | Refusal {
    const grant = this.#tickets.redeem(secret);
    if (!grant) return new Refusal(404, 'not_found', 'this address has already been used, or has expired');
    const { environmentId } = grant.registration;
    if (!grant.client.may(environmentId))
      return new Refusal(403, 'forbidden', 'the token is no longer valid');
    const machine = this.#registrations.connected(environmentId);
    if (machine !== grant.registration || !machine.line.hasRoomFor(grant.client)) return unattached();
    const details = { environment: machine.environmentId, client: grant.client.name };
    return (line) => {
      ClientLine.join(line, {
        grant,
        machine: machine.line,
        closed: () => this.#options.log?.info(details, 'a client is gone'),
      });
      this.#options.log?.info(details, 'a client is connected');
    };
  }

  #urlFor({ headers, socket }: IncomingMessage, path: string): string {
    const { publicUrl } = this.#options;
    const base = publicUrl ?? `${socket instanceof TLSSocket ? 'https' : 'http'}://${headers.host}`;
    return `${base.replace(/^http/, 'ws').replace(/\/+$/, '')}${RENDEZVOUS_PATH}${path}`;
  }
}
