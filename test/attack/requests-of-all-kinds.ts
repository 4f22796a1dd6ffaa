import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { special } from '../harness/confined-server.js';
import {
  dialWire,
  outputOf,
  startParams,
  type WireAnswer,
  type WireClient,
} from '../../testkit/wire-client.mjs';

/** Longer than any answer takes on a busy machine. Whoever says nothing until then hangs. */
const PATIENCE_MS = 20_000;

/** How a request ended: as wanted, refused with a code, or without a word. */
export type Answer =
  | { readonly kind: 'worked' }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'wrong'; readonly what: string };

/** One request of each kind a server serves, in a folder of the caller's. */
export class RequestsOfAllKinds {
  readonly #url: string;
  readonly #folder: string;
  #count = 0;

  constructor(url: string, folder: string) {
    this.#url = url;
    this.#folder = folder;
  }

  /** Connects anew and asks for everything. Being refused a connection is an answer, too. */
  async askAll(): Promise<Record<string, Answer>> {
    let connection: Awaited<ReturnType<typeof dialWire>>;
    try {
      connection = await inTime(dialWire(this.#url));
    } catch (error) {
      return {
        connect: error instanceof Late ? wrong('no connection and no refusal') : refused('connection'),
      };
    }
    const { client, socket } = connection;
    try {
      await inTime(client.handshake());
      return await this.ask(client);
    } catch (error) {
      return { handshake: error instanceof Late ? wrong('no answer') : refused('handshake') };
    } finally {
      socket.terminate();
    }
  }

  /** Asks for everything over a connection that is there. */
  async ask(client: WireClient): Promise<Record<string, Answer>> {
    const path = pathToFileURL(join(this.#folder, 'file')).href;
    const sandbox = this.#sandbox();
    const dataBase64 = Buffer.from('content').toString('base64');
    return {
      pipes: await this.#run(client, {}),
      terminal: await this.#run(client, { tty: true }),
      confined: await this.#run(client, { sandbox }),
      write: await asked(client, 'fs/writeFile', { path, dataBase64 }),
      replace: await asked(client, 'fs/writeFile', { path, dataBase64, atomic: true }),
      read: await asked(client, 'fs/readFile', { path }),
      list: await asked(client, 'fs/readDirectory', { path: pathToFileURL(this.#folder).href }),
      confinedRead: await asked(client, 'fs/readFile', { path, sandbox }),
      status: await asked(client, 'environment/status'),
    };
  }

  #sandbox(): object {
    const uri = pathToFileURL(this.#folder).href;
    const entries = [special('root', 'read'), special('project_roots', 'write')];
    return {
      permissions: {
        type: 'managed',
        file_system: { type: 'restricted', entries },
        network: 'restricted',
      },
      cwd: uri,
      workspaceRoots: [uri],
    };
  }

  async #run(client: WireClient, more: object): Promise<Answer> {
    this.#count += 1;
    const id = `all-kinds-${this.#count}`;
    const started = await asked(client, 'process/start', startParams(id, ['/bin/echo', 'fine'], { ...more }));
    if (started.kind !== 'worked') return started;
    try {
      const text = outputOf(await inTime(client.closedEvents(id)))
        .toString()
        .trim();
      return text === 'fine' ? { kind: 'worked' } : wrong(`it said ${JSON.stringify(text)}`);
    } catch (error) {
      return wrong(String(error));
    }
  }
}

/** Everything that did not work as it should. */
export function wrongAnswers(answers: Readonly<Record<string, Answer>>): [string, Answer][] {
  return Object.entries(answers).filter(([, { kind }]) => kind === 'wrong');
}

/** Everything that did not work, for whatever reason. */
export function failures(answers: Readonly<Record<string, Answer>>): [string, Answer][] {
  return Object.entries(answers).filter(([, { kind }]) => kind !== 'worked');
}

async function asked(client: WireClient, method: string, params?: object): Promise<Answer> {
  let answer: WireAnswer;
  try {
    answer = await inTime(client.ask(method, params));
  } catch (error) {
    return wrong(String(error));
  }
  if (!answer.error) return { kind: 'worked' };
  const { data, message } = answer.error;
  // An error nobody foresaw has no code, or says nothing.
  if (data?.code === undefined || data.code === 'internalError' || message === '')
    return wrong(JSON.stringify(answer.error));
  return refused(data.code);
}

class Late extends Error {}

async function inTime<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late('no answer')), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const wrong = (what: string): Answer => ({ kind: 'wrong', what });
const refused = (code: string): Answer => ({ kind: 'refused', code });
