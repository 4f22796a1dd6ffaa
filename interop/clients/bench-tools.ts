/** Makes a call and returns what the client shows the model. */
export type Call = (tool: string, args: object) => Promise<string>;

interface Context {
  readonly folder: string;
}

/** A task of `bench/tools`. */
export interface Task {
  readonly name: string;
  prepare?(folder: string): object | undefined | Promise<object | undefined>;
  ours(tools: { call(tool: string, args: object): Promise<object> }, context: Context): Promise<unknown>;
  verify(answer: unknown, context: Context): void;
}

export interface TokenLedger {
  call<Answer extends { text: string }>(
    name: string,
    args: object,
    run: () => Promise<Answer>,
  ): Promise<Answer>;
  entry(): { readonly tokens: number };
}

/** The tasks done with the tools of a client itself. */
export type OwnWays = Readonly<Record<string, (call: Call, context: Context) => Promise<string>>>;

export interface Costs {
  readonly definitions: number;
  readonly tasks: Readonly<Record<string, number>>;
}

interface BenchTools {
  readonly tasks: readonly Task[];
  readonly proofs: Readonly<Record<string, RegExp>>;
  readonly withCodex: OwnWays;
  readonly withClaude: OwnWays;
  readonly Ledger: new () => TokenLedger;
  readonly tokensOf: (text: string) => number;
  readonly reportOfText: (text: string) => object;
  readonly writeClientReport: (results: Readonly<Record<string, Costs>>) => void;
}

const FILES = ['tasks/index', 'tasks/own-tools', 'ledger', 'report-of-text', 'client-report'];

/** The bench is JavaScript that the compiler checks less strictly than this; these are the types of what is used of it. */
export async function loadBenchTools(): Promise<BenchTools> {
  const urls = FILES.map((name) => new URL(`../../bench/tools/${name}.mjs`, import.meta.url).href);
  const modules = await Promise.all(urls.map((url) => import(url) as Promise<object>));
  return Object.assign({}, ...modules) as BenchTools;
}
