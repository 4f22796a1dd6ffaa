import type {
  AppliedChanges,
  ApplyChangesOptions,
  ChangeSet,
  ChangeSetInfo,
  ChangesPage,
  ChangesUpdate,
  DiffChangesOptions,
  DiffPage,
  HeldChange,
  ListChangesOptions,
  ProcessSpec,
  ReadChangeOptions,
} from '../../contract/index.js';
import {
  decodeBase64,
  execServerNotifications,
  fileUri,
  parseFileUri,
  pathText,
} from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';
import { typeableId } from '../process/typeable-id.js';

/** A set of held changes on the machine of a server. */
export class RemoteChangeSet implements ChangeSet {
  readonly changesId: string;
  readonly #client: ExecClient;

  constructor(client: ExecClient, changesId: string) {
    this.#client = client;
    this.changesId = changesId;
  }

  async list(options: ListChangesOptions = {}): Promise<ChangesPage> {
    const page = await (await this.#ready()).call('changes/list', { ...this.#id, ...options });
    return { ...page, changes: page.changes.map(shown) };
  }

  async read(
    path: string,
    options: ReadChangeOptions,
  ): Promise<{ bytes: Uint8Array; size: number; eof: boolean }> {
    const params = { ...this.#id, path: fileUri(path), ...options };
    const { dataBase64, size, eof } = await (await this.#ready()).call('changes/read', params);
    return { bytes: decodeBase64(dataBase64, 'invalidData'), size, eof };
  }

  async diff({ paths, ...options }: DiffChangesOptions = {}): Promise<DiffPage> {
    const page = await (await this.#ready()).call('changes/diff', {
      ...this.#id,
      ...options,
      ...onWire(paths),
    });
    return { ...page, diffs: page.diffs.map((diff) => ({ ...diff, path: pathOf(diff.path) })) };
  }

  async apply({ paths, ...options }: ApplyChangesOptions = {}): Promise<AppliedChanges> {
    const client = await this.#ready();
    const params = { ...this.#id, ...options, ...onWire(paths) };
    // However much there is to write.
    const answer = await client.call('changes/apply', params, { timeoutMs: Number.POSITIVE_INFINITY });
    return { ...answer, conflicts: answer.conflicts.map(shown) };
  }

  async discard(): Promise<void> {
    await (await this.#ready()).call('changes/discard', this.#id);
  }

  get #id(): { changesId: string } {
    return { changesId: this.changesId };
  }

  #ready(): Promise<ExecClient> {
    return requireChanges(this.#client);
  }
}

export async function listChangeSets(client: ExecClient): Promise<ChangeSetInfo[]> {
  const { sets } = await (await requireChanges(client)).call('changes/sets', null);
  return sets.map((set) => ({ ...set, roots: set.roots.map(pathOf) }));
}

/** Calls `listener` for each update that the server sends. Returns an unsubscribe function. */
export function watchChanges(client: ExecClient, listener: (update: ChangesUpdate) => void): () => void {
  return client.listen({
    notified: (method, params) => {
      if (method !== 'changes/updated') return;
      const outcome = execServerNotifications['changes/updated'].params.safeParse(params);
      if (outcome.success) listener(outcome.data);
    },
  });
}

/** A program whose changes are held in a set of its own gets its id here: it is known even if the answer is lost. */
export function withChangesId(spec: ProcessSpec): ProcessSpec {
  const { sandbox } = spec;
  if (!sandbox?.changes || sandbox.changesId !== undefined) return spec;
  return { ...spec, sandbox: { ...sandbox, changesId: typeableId() } };
}

async function requireChanges(client: ExecClient): Promise<ExecClient> {
  if (!client.introduced) await client.ready();
  if (!client.serverCapabilities.changes) throw unsupported('holding changes');
  return client;
}

function shown(change: HeldChange): HeldChange {
  return { ...change, path: pathOf(change.path) };
}

function pathOf(uri: string): string {
  return pathText(parseFileUri(uri));
}

function onWire(paths: readonly string[] | undefined): { paths?: string[] } {
  return paths === undefined ? {} : { paths: paths.map((path) => fileUri(path)) };
}
