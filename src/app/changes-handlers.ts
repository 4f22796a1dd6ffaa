import type { ChangeSet, Environment } from '../contract/index.js';
import { type AppMethods, encodeBase64, isFileUri } from '../protocol/index.js';
import type { Handlers } from '../rpc/index.js';
import type { HandlerContext } from './handler-context.js';
import { absolutePath } from './start-run.js';

type ChangesMethods = Pick<AppMethods, Extract<keyof AppMethods, `changes/${string}`>>;

/** What commands have changed that hold their changes. */
export function changesHandlers(context: HandlerContext): Handlers<ChangesMethods> {
  const setOf = async (params: {
    changesId: string;
    environmentId?: string | null | undefined;
  }): Promise<ChangeSet> => (await context.environment(params.environmentId)).changes(params.changesId);
  return {
    'changes/sets': async ({ environmentId }) => {
      const sets = await (await context.environment(environmentId)).changeSets();
      return { sets: sets.map((set) => ({ ...set, roots: [...set.roots] })) };
    },
    'changes/list': async (params) => {
      const { glob, limit, cursor } = params;
      const page = await (await setOf(params)).list(given({ glob, limit, cursor }));
      return { ...page, changes: [...page.changes] };
    },
    'changes/read': async (params) => {
      const { path, side, offset, maxBytes } = params;
      const options = { side, ...given({ offset, maxBytes }) };
      const { bytes, size, eof } = await (await setOf(params)).read(plain(path), options);
      return { dataBase64: encodeBase64(bytes), size, eof };
    },
    'changes/diff': async (params) => {
      const { paths, contextLines, maxBytes, cursor } = params;
      const options = given({ paths: paths?.map(plain), contextLines, maxBytes, cursor });
      const page = await (await setOf(params)).diff(options);
      return { ...page, diffs: [...page.diffs] };
    },
    'changes/apply': async (params) => {
      const { paths, onConflict } = params;
      const options = given({ paths: paths?.map(plain), onConflict });
      const { applied, conflicts } = await (await setOf(params)).apply(options);
      return { applied, conflicts: [...conflicts] };
    },
    'changes/discard': async (params) => {
      await (await setOf(params)).discard();
      return {};
    },
  };
}

/** Tells the client of sets that grow, once it holds changes in an environment. */
export class ChangesNews {
  readonly #context: Pick<HandlerContext, 'notify' | 'signal'>;
  readonly #watched = new WeakSet<Environment>();

  constructor(context: Pick<HandlerContext, 'notify' | 'signal'>) {
    this.#context = context;
  }

  watch(environment: Environment, environmentId: string | null | undefined): void {
    if (this.#watched.has(environment)) return;
    this.#watched.add(environment);
    const { signal, notify } = this.#context;
    const stop = environment.watchChanges((update) =>
      notify('changes/updated', { ...update, environmentId: environmentId ?? null }),
    );
    signal.addEventListener('abort', stop, { once: true });
  }
}

/** Without what is null or absent. */
function given<T extends object>(options: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  const entries = Object.entries(options).filter(([, value]) => value != null);
  return Object.fromEntries(entries) as { [Key in keyof T]?: NonNullable<T[Key]> };
}

/** Paths are resolved lexically, as everywhere in this protocol. */
function plain(path: string): string {
  return isFileUri(path) ? path : absolutePath(path);
}
