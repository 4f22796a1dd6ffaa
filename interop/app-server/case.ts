import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { AppClient } from '../../testkit/app-client.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import type { RunDirectory } from '../harness/run-directory.js';
import { normalise, normaliseAnswer } from './normalise.js';

/** One thing to do with an app server. What it returns must be the same on both servers. */
export interface AppCase {
  readonly name: string;
  /** It takes a second or more: played over one transport only. */
  readonly slow?: boolean;
  readonly play: (bench: CaseBench) => Promise<unknown>;
}

/** Runs a command as it is; without it both servers confine. */
export const UNCONFINED = { sandboxPolicy: { type: 'dangerFullAccess' } } as const;

/** Prints the names of all variables but those the published launcher of Codex sets for itself. */
export const VARIABLE_NAMES = 'env | cut -d= -f1 | grep -v ^CODEX_MANAGED_ | sort';

export interface CaseBenchOptions {
  readonly client: AppClient;
  readonly run: RunDirectory;
  readonly folder: string;
  /** Another connection, before its handshake. */
  readonly connect: () => Promise<AppClient>;
  /** Where the server listens, if it does. */
  readonly url: string | undefined;
}

/** What a case has to work with: a client after its handshake, and an empty folder. */
export class CaseBench {
  readonly client: AppClient;
  readonly run: RunDirectory;
  readonly folder: string;
  readonly connect: () => Promise<AppClient>;
  readonly url: string | undefined;

  constructor({ client, run, folder, connect, url }: CaseBenchOptions) {
    this.client = client;
    this.run = run;
    this.folder = folder;
    this.connect = connect;
    this.url = url;
  }

  static async prepare(options: CaseBenchOptions): Promise<CaseBench> {
    await mkdir(options.folder);
    options.client.wire.arrivals.length = 0;
    return new CaseBench(options);
  }

  /** An id no other case uses: the real server forgets one a moment after it told the end. */
  get handle(): string {
    return basename(this.folder);
  }

  at(name: string): string {
    return join(this.folder, name);
  }

  /** The answer in a form that can be compared. */
  async ask(method: string, params?: unknown, client = this.client): Promise<unknown> {
    return normaliseAnswer(await client.ask(method, params), this);
  }

  /** Answers to several requests, asked one after the other. */
  async askAll(method: string, all: readonly unknown[], client = this.client): Promise<unknown[]> {
    const answers = [];
    for (const params of all) answers.push(await this.ask(method, params, client));
    return answers;
  }

  /** `command/exec` of a script, unconfined. */
  exec(script: string, more: object = {}): Promise<unknown> {
    return this.ask('command/exec', { command: sh(script), ...UNCONFINED, ...more });
  }

  /** Sends without waiting. The answer is in `answerTo` later. */
  post(id: string, method: string, params: object): void {
    this.client.post(`${this.handle} ${id}`, method, params);
  }

  /** Starts a script under the id of the case; its answer has the id `run`. */
  postExec(script: string, more: object = {}): void {
    const params = {
      command: sh(script),
      processId: this.handle,
      disableTimeout: true,
      ...UNCONFINED,
      ...more,
    };
    this.post('run', 'command/exec', params);
  }

  async answerTo(id: string): Promise<unknown> {
    return normaliseAnswer(await this.client.wire.answerTo(`${this.handle} ${id}`), this);
  }

  /** What was streamed under an id: the bytes of each stream, and how often its cap was said to be reached. */
  streamed(id: string): unknown {
    const deltas = this.client
      .notifications()
      .filter(({ method, params }) => method.endsWith('/outputDelta') && idOf(params) === id);
    const capsOf = (stream: string): number =>
      deltas.filter(({ params }) => params['stream'] === stream && params['capReached'] === true).length;
    const all = {
      stdout: this.client.streamed(id, 'stdout').toString('latin1'),
      stdoutCaps: capsOf('stdout'),
      stderr: this.client.streamed(id, 'stderr').toString('latin1'),
      stderrCaps: capsOf('stderr'),
    };
    return normalise(all, this);
  }

  /** `process/spawn` of a script, to its end. */
  async spawn(script: string, more: object = {}): Promise<unknown> {
    const params = { command: sh(script), processHandle: this.handle, cwd: this.folder, ...more };
    const answer = await this.ask('process/spawn', params);
    return { answer, exited: await this.exited(this.handle) };
  }

  async exited(handle: string): Promise<unknown> {
    return normalise(await this.client.exited(handle), this);
  }
}

function idOf(params: Readonly<Record<string, unknown>>): unknown {
  return params['processId'] ?? params['processHandle'];
}

/** One case for each of the named requests, which are about nothing but their answer. */
export function answers(
  method: string,
  rows: Readonly<Record<string, object | ((bench: CaseBench) => unknown)>>,
): AppCase[] {
  return Object.entries(rows).map(([name, row]) => ({
    name: `${method}: ${name}`,
    play: (bench) => bench.ask(method, typeof row === 'function' ? row(bench) : row),
  }));
}
