import type { AppClient } from '../../testkit/app-client.mjs';
import { type AppCase, CaseBench } from './case.js';
import {
  AppServerProcess,
  dialConfined,
  programs,
  type ServerName,
  type TransportName,
} from './app-server-process.js';

/** No case takes longer; a request nobody answers fails with its own name. */
const CASE_LIMIT_MS = 20_000;

type Outcomes = Readonly<Record<ServerName, unknown>>;

/** Both servers, and one connection to each that all cases share. */
export interface Pair extends AsyncDisposable {
  play(each: AppCase): Promise<Outcomes>;
}

interface Side extends AsyncDisposable {
  play(each: AppCase): Promise<unknown>;
}

/** Starts both servers. */
export async function openPair(transport: TransportName): Promise<Pair> {
  const open = transport === 'stdio' ? openStdioSide : openWebSocketSide;
  const names = Object.keys(programs) as ServerName[];
  const sides = await Promise.all(names.map(async (name) => [name, await open(name)] as const));
  return {
    play: async (each) => {
      const outcomes = sides.map(async ([name, side]) => [name, await side.play(each)] as const);
      return Object.fromEntries(await Promise.all(outcomes)) as unknown as Outcomes;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(sides.map(([, side]) => side[Symbol.asyncDispose]()));
    },
  };
}

async function openWebSocketSide(name: ServerName): Promise<Side> {
  const server = await AppServerProcess.onWebSocket(name);
  const { root } = server.run;
  const extra: { hangUp(): void }[] = [];
  const connect = async (): Promise<AppClient> => {
    const dialled = await dialConfined(server.url, root);
    extra.push(dialled);
    return dialled.client;
  };
  const client = await (await connect()).initialize();
  const own = extra.splice(0);
  return {
    play: async (each) => {
      try {
        return await playOn(each, { client, server, name, connect, url: server.url });
      } finally {
        for (const one of extra.splice(0)) one.hangUp();
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of own) one.hangUp();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function openStdioSide(name: ServerName): Promise<Side> {
  const server = await AppServerProcess.onStdio(name);
  await server.client.initialize();
  const extra: AsyncDisposable[] = [];
  /** On stdio another connection is another server. */
  const connect = async (): Promise<AppClient> => {
    const another = await AppServerProcess.onStdio(name);
    extra.push(another);
    return another.client;
  };
  return {
    play: async (each) => {
      try {
        return await playOn(each, { client: server.client, server, name, connect, url: undefined });
      } finally {
        for (const one of extra.splice(0)) await one[Symbol.asyncDispose]();
      }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Played {
  readonly client: AppClient;
  readonly server: AppServerProcess;
  readonly name: ServerName;
  readonly connect: () => Promise<AppClient>;
  readonly url: string | undefined;
}

/** The real server was seen to sleep over a key press on a busy machine: it gets a second chance, ours does not. */
async function playOn(each: AppCase, played: Played): Promise<unknown> {
  const plays = played.name === 'codex' ? 2 : 1;
  for (let left = plays - 1; ; left -= 1) {
    try {
      return await playOnce(each, played);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

async function playOnce(each: AppCase, { client, server, name, connect, url }: Played): Promise<unknown> {
  const folder = server.nextFolder();
  const bench = await CaseBench.prepare({ client, run: server.run, folder, connect, url });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    const error = new Error(`${each.name}: not over on ${name} after ${CASE_LIMIT_MS} ms`);
    timer = setTimeout(reject, CASE_LIMIT_MS, error);
  });
  return await Promise.race([each.play(bench), late]).finally(() => clearTimeout(timer));
}
