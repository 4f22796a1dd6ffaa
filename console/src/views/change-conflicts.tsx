import type { HeldChange } from '../../../src/contract/index.js';
import { harmless } from '../lib/format.js';
import { Dialog } from '../ui/dialog.js';

const MAX_SHOWN = 20;

/** Nothing was applied, because somebody else has changed some of it meanwhile: what now? */
export function ConflictsDialog(props: {
  conflicts: readonly HeldChange[];
  onApply: (onConflict: 'skip' | 'overwrite') => void;
  onClose: () => void;
}) {
  const { conflicts, onApply, onClose } = props;
  const count = conflicts.length === 1 ? '1 file' : `${conflicts.length} files`;
  const choose = (onConflict: 'skip' | 'overwrite'): void => {
    onClose();
    onApply(onConflict);
  };
  return (
    <Dialog title="Conflicts" onClose={onClose}>
      <div class="dialog">
        <h2>Nothing was applied</h2>
        <p class="muted">
          Somebody else has changed {count} since the program did. Applying would undo that.
        </p>
        <ul class="mono">
          {conflicts.slice(0, MAX_SHOWN).map(({ path }) => (
            <li class="clip" key={path}>
              {harmless(path)}
            </li>
          ))}
        </ul>
        {conflicts.length > MAX_SHOWN && <p class="muted">And {conflicts.length - MAX_SHOWN} more.</p>}
        <div class="dialog-foot">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="button danger" onClick={() => choose('overwrite')}>
            Overwrite them
          </button>
          <button type="button" class="button primary" onClick={() => choose('skip')}>
            Apply the rest
          </button>
        </div>
      </div>
    </Dialog>
  );
}
