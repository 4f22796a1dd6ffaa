import { useState } from 'preact/hooks';
import type { DirectoryEntry, FileSystem } from '../../../src/contract/index.js';
import { saveAs } from '../lib/download.js';
import { contentOf } from '../lib/file-transfer.js';
import { bytes, harmless } from '../lib/format.js';
import type { Machine } from '../lib/machine.js';
import { namesIn } from '../lib/names-in.js';
import { join, parentOf } from '../lib/paths.js';
import { addressOf } from '../lib/router.js';
import { attempt } from '../lib/toasts.js';
import { Confirm, Dialog } from '../ui/dialog.js';
import { Empty } from '../ui/empty.js';
import { Icon } from '../ui/icons.js';

/** More entries are counted, not shown. */
const MAX_SHOWN = 2_000;
const NAME_IS_TAKEN = 'There is something of that name already.';

export function FileList(props: {
  machine: Machine;
  entries: readonly DirectoryEntry[];
  shown: DirectoryEntry | undefined;
  onShow: (entry: DirectoryEntry) => void;
}) {
  const { machine, entries, shown } = props;
  const [removing, setRemoving] = useState<DirectoryEntry>();
  const [renaming, setRenaming] = useState<DirectoryEntry>();
  if (entries.length === 0) return <Empty title="This directory is empty." />;
  const { files } = machine.environment;
  return (
    <>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="numeric" style={{ width: '84px' }}>
              Size
            </th>
            <th scope="col" class="three-icons">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.slice(0, MAX_SHOWN).map((entry) => (
            <tr
              key={entry.path}
              style={entry.path === shown?.path ? { background: 'var(--accent-soft)' } : {}}
            >
              <td class="clip">
                <Name machine={machine} entry={entry} onShow={props.onShow} />
              </td>
              <td class="numeric muted">
                {entry.isFile && entry.size !== undefined ? bytes(entry.size) : ''}
              </td>
              <td class="numeric" style={{ padding: '0 8px', whiteSpace: 'nowrap' }}>
                {entry.isFile && (
                  <button
                    type="button"
                    class="button quiet icon"
                    aria-label={`Download ${harmless(entry.name, 80)}`}
                    onClick={() => void attempt(() => saveAs(entry.name, contentOf(files, entry.path)))}
                  >
                    <Icon name="down" />
                  </button>
                )}
                <button
                  type="button"
                  class="button quiet icon"
                  aria-label={`Rename ${harmless(entry.name, 80)}`}
                  onClick={() => setRenaming(entry)}
                >
                  <Icon name="pencil" />
                </button>
                <button
                  type="button"
                  class="button quiet icon danger"
                  aria-label={`Delete ${harmless(entry.name, 80)}`}
                  onClick={() => setRemoving(entry)}
                >
                  <Icon name="trash" />
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {entries.length > MAX_SHOWN && <p class="notice">{entries.length - MAX_SHOWN} more are not shown.</p>}
      {removing && (
        <Confirm
          title={`Delete ${harmless(removing.name, 80)}?`}
          text={
            removing.isDirectory && !removing.isSymlink
              ? 'The directory and everything in it are deleted. This cannot be undone.'
              : 'This cannot be undone.'
          }
          action="Delete"
          onConfirm={() => void attempt(() => files.remove(removing.path))}
          onClose={() => setRemoving(undefined)}
        />
      )}
      {renaming && (
        <Rename
          entry={renaming}
          taken={entries.map(({ name }) => name)}
          onRename={(name) => void attempt(() => rename(files, renaming, name))}
          onClose={() => setRenaming(undefined)}
        />
      )}
    </>
  );
}

/** Never in place of something else. */
async function rename(files: FileSystem, entry: DirectoryEntry, name: string): Promise<void> {
  const directory = parentOf(entry.path);
  if ((await namesIn(files, directory)).has(name)) throw new Error(NAME_IS_TAKEN);
  await files.rename(entry.path, join(directory, name));
}

function Name(props: { machine: Machine; entry: DirectoryEntry; onShow: (entry: DirectoryEntry) => void }) {
  const { entry, machine } = props;
  const content = (
    <span class="row">
      <Icon name={entry.isDirectory ? 'folder' : 'file'} />
      <span class="clip">{harmless(entry.name, 255)}</span>
      {entry.isSymlink && <span class="badge">link</span>}
    </span>
  );
  if (entry.isDirectory)
    return <a href={addressOf({ view: 'files', machine: machine.id, path: entry.path })}>{content}</a>;
  return (
    <button type="button" class="button quiet plain" onClick={() => props.onShow(entry)}>
      {content}
    </button>
  );
}

function Rename(props: {
  entry: DirectoryEntry;
  taken: readonly string[];
  onRename: (name: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(props.entry.name);
  const isTaken = name !== props.entry.name && props.taken.includes(name);
  const isUsable = name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !isTaken;
  return (
    <Dialog title="Rename" onClose={props.onClose}>
      <form
        class="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isUsable) return;
          props.onRename(name);
          props.onClose();
        }}
      >
        <h2>Rename {harmless(props.entry.name, 80)}</h2>
        <label class="field">
          <span>New name</span>
          <input
            class="input mono"
            value={name}
            spellcheck={false}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          {isTaken && <small role="alert">{NAME_IS_TAKEN}</small>}
        </label>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={!isUsable || name === props.entry.name}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
