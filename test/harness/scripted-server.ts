import { execDialect } from '../../src/protocol/dialects.js';
import { ExecError } from '../../src/protocol/index.js';
import { type Channel, type PeerHandler, RpcPeer } from '../../src/rpc/index.js';
import { createMemoryChannels } from '../../src/transport/memory.js';

type Answer = (params: Record<string, unknown>) => unknown;

/** An answer that never comes. */
export const NO_ANSWER = new Promise<never>(() => undefined);

/** A server whose every answer and notification a test decides. Speaks over memory, one connection at a time. */
export class ScriptedServer {
  /** Everything clients sent, across connections, as `[method, params]`. */
  readonly heard: [string, Record<string, unknown>][] = [];
  readonly #answers = new Map<string, Answer>();
  readonly #listeners = new Set<() => void>();
  #peer: RpcPeer | undefined;
  #channel: Channel | undefined;
  /** While false, dialling fails. */
  reachable = true;
  /** True while the client does not read. */
  paused = false;
  dials = 0;

  constructor(answers: Record<string, Answer> = {}) {
    const defaults: Record<string, Answer> = {
      initialize: ({ resumeSessionId }) => ({
        sessionId: resumeSessionId ?? 'session-1',
        environmentInfo: { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///srv' },
      }),
      'process/start': ({ processId }) => ({ processId, sandboxType: 'none' }),
      'process/write': () => ({ status: 'accepted' }),
      'process/terminate': () => ({ running: true }),
      'process/signal': () => ({}),
      'environment/status': () => ({ status: 'ready' }),
    };
    for (const [method, answer] of Object.entries({ ...defaults, ...answers })) this.on(method, answer);
  }

  on(method: string, answer: Answer): void {
    this.#answers.set(method, answer);
  }

  readonly dial = async (): Promise<Channel> => {
    this.dials += 1;
    if (!this.reachable) throw new ExecError('notConnected', 'out of reach');
    const [near, far] = createMemoryChannels();
    this.#channel = far;
    const handler: PeerHandler = {
      request: (method, params) => this.#hear(method, params),
      notification: (method, params) => void this.#record(method, params),
      closed: () => undefined,
    };
    this.#peer = new RpcPeer(far, handler, { dialect: execDialect });
    this.#peer.open();
    const [pause, resume] = [near.pause.bind(near), near.resume.bind(near)];
    near.pause = () => {
      this.paused = true;
      pause();
    };
    near.resume = () => {
      this.paused = false;
      resume();
    };
    return near;
  };

  notify(method: string, params: unknown): void {
    this.#peer?.notify(method, params);
  }

  output(processId: string, seq: number, text: string | Buffer): void {
    const chunk = Buffer.from(text).toString('base64');
    this.notify('process/output', { processId, seq, stream: 'stdout', chunk });
  }

  exited(processId: string, seq: number, exitCode = 0): void {
    this.notify('process/exited', { processId, seq, exitCode, sandboxDenied: false });
  }

  closed(processId: string, seq: number): void {
    this.notify('process/closed', { processId, seq });
  }

  /** Ends the connection as a broken network would. */
  cut(): void {
    this.#channel?.destroy('cut');
  }

  /** What was sent to a method so far. */
  sentTo(method: string): Record<string, unknown>[] {
    return this.heard.filter(([name]) => name === method).map(([, params]) => params);
  }

  /** Resolves with the params of the count-th message to a method. */
  async hears(method: string, count = 1): Promise<Record<string, unknown>> {
    for (;;) {
      const params = this.sentTo(method)[count - 1];
      if (params) return params;
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
  }

  #hear(method: string, params: unknown): unknown {
    const answer = this.#answers.get(method);
    if (!answer) throw new ExecError('methodNotFound', `unknown method: ${method}`);
    return answer(this.#record(method, params));
  }

  #record(method: string, params: unknown): Record<string, unknown> {
    const object = { ...(params as Record<string, unknown> | null) };
    this.heard.push([method, object]);
    for (const listener of [...this.#listeners]) listener();
    return object;
  }
}

/** The answer to a read, with what matters to a test filled in. */
export function snapshot(facts: {
  chunks?: { seq: number; text: string; lostBytes?: number }[];
  nextSeq: number;
  exitCode?: number;
  closed?: boolean;
}): unknown {
  const { chunks = [], nextSeq, exitCode, closed = false } = facts;
  return {
    chunks: chunks.map(({ seq, text, ...rest }) => ({
      seq,
      stream: 'stdout',
      chunk: Buffer.from(text).toString('base64'),
      ...rest,
    })),
    nextSeq,
    exited: exitCode !== undefined,
    exitCode: exitCode ?? null,
    closed,
    failure: null,
    sandboxDenied: false,
  };
}
