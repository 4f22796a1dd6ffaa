import { useEffect, useState } from 'preact/hooks';
import type { DirectoryEntry } from '../../../src/contract/index.js';
import { harmless, pathOfUri } from '../lib/format.js';
import { upload } from '../lib/file-transfer.js';
import type { Machine } from '../lib/machine.js';
import { namesIn } from '../lib/names-in.js';
import { join, waysTo } from '../lib/paths.js';
import { addressOf } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { attempt, tell } from '../lib/toasts.js';
import { Confirm } from '../ui/dialog.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';
import { FileList } from './file-list.js';
import { FilePreview } from './file-preview.js';
import { Notice } from './processes.js';
import { messageOf } from '../lib/errors.js';

const WATCH_DEBOUNCE_MS = 200;

/** The files of a machine: a directory on the left, what is in a file on the right. */
export function FilesView({ machine, path }: { machine: Machine; path: string | null }) {
  const { info, status, problem, connections } = useStore(machine.state);
  if (info === null)
    return status === 'offline' ? <Notice {...{ status, problem }} /> : <Empty title="Loading…" />;
  const directory = path ?? pathOfUri(info.cwd ?? info.userHomeDir ?? '/');
  return (
    <>
      {status !== 'online' && <Notice {...{ status, problem }} />}
      <Directory machine={machine} directory={directory} key={`${connections} ${directory}`} />
    </>
  );
}

function Directory({ machine, directory }: { machine: Machine; directory: string }) {
  const [entries, setEntries] = useState<readonly DirectoryEntry[]>();
  const [problem, setProblem] = useState<string>();
  const [shown, setShown] = useState<DirectoryEntry>();
  const [isOver, setOver] = useState(false);
  const [version, setVersion] = useState(0);
  const [uploading, setUploading] = useState<{ name: string; share: number }>();
  const [replacing, setReplacing] = useState<readonly File[]>([]);
  useEffect(
    () => follow(machine, directory, { setEntries, setProblem, changed: () => setVersion((v) => v + 1) }),
    [],
  );
  const take = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      const name = nameFor(file);
      const progress = (share: number): void => setUploading({ name, share });
      const path = join(directory, name);
      if (await attempt(() => upload(machine.environment.files, path, file, progress)))
        tell(`${harmless(name, 80)} was uploaded.`);
    }
    setUploading(undefined);
  };
  /** What would be lost is asked about first. */
  const offer = (files: readonly File[]): Promise<boolean> =>
    attempt(async () => {
      const names = await namesIn(machine.environment.files, directory);
      const isThere = (file: File): boolean => names.has(nameFor(file));
      setReplacing(files.filter(isThere));
      await take(files.filter((file) => !isThere(file)));
    });
  const drop = (transfer: DataTransfer | null): void => {
    const items = [...(transfer?.items ?? [])];
    if (items.some((item) => item.webkitGetAsEntry()?.isDirectory))
      return tell('Directories cannot be dropped here. Use `execwire cp -r`.', { kind: 'error' });
    void offer([...(transfer?.files ?? [])]);
  };
  return (
    <>
      <header class="head">
        <h1 class="visually-hidden">Files on {machine.id}</h1>
        <nav class="crumbs grow" aria-label="Path">
          {waysTo(directory).map(({ name, path }, index, { length }) => (
            <span key={path}>
              {index > 1 && <span class="muted">/</span>}
              {index === length - 1 ? (
                <strong aria-current="page">{harmless(name, 80)}</strong>
              ) : (
                <a href={addressOf({ view: 'files', machine: machine.id, path })}>{harmless(name, 80)}</a>
              )}
            </span>
          ))}
        </nav>
        <label class="button">
          <Icon name="up" />
          Upload
          <input
            class="visually-hidden"
            type="file"
            multiple
            onChange={(event) => {
              void offer([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
        </label>
      </header>
      {uploading && (
        <progress
          class="uploading"
          aria-label={`Uploading ${harmless(uploading.name, 80)}`}
          value={uploading.share}
        />
      )}
      <div
        class={`body flush ${isOver ? 'drop' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          drop(event.dataTransfer);
        }}
      >
        <div class={`files ${shown ? 'has-preview' : ''}`}>
          <div class="list">
            {problem !== undefined ? (
              <Empty title="This directory cannot be read.">
                <p>{problem}</p>
              </Empty>
            ) : entries === undefined ? (
              <Empty title="Loading…" />
            ) : (
              <FileList machine={machine} entries={entries} shown={shown} onShow={setShown} />
            )}
          </div>
          <div>
            {shown ? (
              <FilePreview
                machine={machine}
                file={shown}
                others={entries ?? []}
                version={version}
                onClose={() => setShown(undefined)}
                key={shown.path}
              />
            ) : (
              <Empty title="Choose a file to look at.">
                <p>Drop files anywhere here to upload them.</p>
              </Empty>
            )}
          </div>
        </div>
      </div>
      {replacing.length > 0 && (
        <Confirm
          title={replacing.length === 1 ? 'Replace this file?' : `Replace ${replacing.length} files?`}
          text={`${replacing.map((file) => harmless(nameFor(file), 80)).join(', ')}: there is something of that name already.`}
          action="Replace"
          onConfirm={() => void take(replacing)}
          onClose={() => setReplacing([])}
        />
      )}
    </>
  );
}

function nameFor(file: File): string {
  return file.name.replaceAll('/', '_');
}

/** Keeps the list as it is on the machine. Returns a function that stops that. */
function follow(
  machine: Machine,
  directory: string,
  on: {
    setEntries: (entries: readonly DirectoryEntry[]) => void;
    setProblem: (problem: string | undefined) => void;
    changed: () => void;
  },
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const read = async (): Promise<void> => {
    const entries = await machine.environment.files.readDirectory(directory, { details: true });
    if (signal.aborted) return;
    on.setEntries(sorted(entries));
    on.setProblem(undefined);
    on.changed();
  };
  const run = async (): Promise<void> => {
    const options = { debounceMs: WATCH_DEBOUNCE_MS, signal };
    await using watch = await machine.environment.files.watch(directory, options);
    await read();
    for await (const _changes of watch) await read();
  };
  run().catch((error: unknown) => {
    if (!signal.aborted) on.setProblem(messageOf(error));
  });
  return () => stop.abort();
}

function sorted(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  return [...entries].sort(
    (a, b) =>
      Number(b.isDirectory) - Number(a.isDirectory) || a.name.localeCompare(b.name, 'en', { numeric: true }),
  );
}
