import { useEffect, useState } from 'preact/hooks';
import type { DirectoryEntry } from '../../../src/contract/index.js';
import { harmless, pathOfUri } from '../lib/format.js';
import { upload } from '../lib/file-transfer.js';
import type { Machine } from '../lib/machine.js';
import { join, waysTo } from '../lib/paths.js';
import { addressOf } from '../lib/router.js';
import { useStore } from '../lib/store.js';
import { attempt, tell } from '../lib/toasts.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';
import { FileList } from './file-list.js';
import { FilePreview } from './file-preview.js';
import { messageOf } from '../lib/errors.js';

const WATCH_DEBOUNCE_MS = 200;

/** The files of a machine: a directory on the left, what is in a file on the right. */
export function FilesView({ machine, path }: { machine: Machine; path: string | null }) {
  const { info, status } = useStore(machine.state);
  const directory = path ?? (info ? pathOfUri(info.cwd ?? info.userHomeDir ?? '/') : null);
  if (directory === null)
    return <Empty title={status === 'offline' ? 'This machine cannot be reached.' : 'Loading…'} />;
  return <Directory machine={machine} directory={directory} key={directory} />;
}

function Directory({ machine, directory }: { machine: Machine; directory: string }) {
  const [entries, setEntries] = useState<readonly DirectoryEntry[]>();
  const [problem, setProblem] = useState<string>();
  const [shown, setShown] = useState<DirectoryEntry>();
  const [isOver, setOver] = useState(false);
  const [version, setVersion] = useState(0);
  useEffect(
    () => follow(machine, directory, { setEntries, setProblem, changed: () => setVersion((v) => v + 1) }),
    [],
  );
  const take = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      const name = file.name.replaceAll('/', '_');
      if (await attempt(() => upload(machine.environment.files, join(directory, name), file)))
        tell(`${harmless(name, 80)} was uploaded.`);
    }
  };
  return (
    <>
      <header class="head">
        <h1 class="visually-hidden">Files on {machine.id}</h1>
        <nav class="crumbs grow" aria-label="Path">
          {waysTo(directory).map(({ name, path }, index) => (
            <span key={path}>
              {index > 1 && <span class="muted">/</span>}
              <a href={addressOf({ view: 'files', machine: machine.id, path })}>{harmless(name, 80)}</a>
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
              void take([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
        </label>
      </header>
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
          void take([...(event.dataTransfer?.files ?? [])]);
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
    </>
  );
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
