import { useEffect, useState } from 'preact/hooks';
import { duration } from '../lib/format.js';
import { createLink, listLinks, revokeLink, type ViewLinkRow } from '../lib/session.js';
import { attempt, tell } from '../lib/toasts.js';
import { Dialog } from '../ui/dialog.js';

const HOUR_MS = 60 * 60_000;

/** Links that can be handed out: whoever has one sees processes and their output, and changes nothing. */
export function LinksDialog({ onClose }: { onClose: () => void }) {
  const [links, setLinks] = useState<readonly ViewLinkRow[]>([]);
  const [made, setMade] = useState<string | null>(null);
  const [hours, setHours] = useState(24);
  const reload = async (): Promise<void> => setLinks((await listLinks()).links);
  useEffect(() => void attempt(reload), []);
  const create = async (): Promise<void> => {
    const { key } = await createLink(hours * HOUR_MS);
    setMade(`${location.origin}/#key=${key}`);
    await reload();
  };
  return (
    <Dialog title="Links for viewers" onClose={onClose}>
      <div class="dialog">
        <h2>Links for viewers</h2>
        <p class="muted">
          Whoever opens such a link sees the processes of all machines and what they print. Viewers cannot
          type, start or end anything, and see no files.
        </p>
        <div class="row wrap">
          <label class="row">
            <span class="label">Valid for</span>
            <select
              class="input fit"
              value={hours}
              onChange={(event) => setHours(Number(event.currentTarget.value))}
            >
              <option value={1}>1 hour</option>
              <option value={24}>1 day</option>
              <option value={168}>1 week</option>
            </select>
          </label>
          <button type="button" class="button primary" onClick={() => void attempt(create)}>
            Create a link
          </button>
        </div>
        {made !== null && (
          <label class="field">
            <span>Copy it now: it is not shown again.</span>
            <div class="row">
              <input
                class="input mono"
                readOnly
                value={made}
                onFocus={(event) => event.currentTarget.select()}
              />
              <button
                type="button"
                class="button"
                onClick={() =>
                  void attempt(async () => {
                    await navigator.clipboard.writeText(made);
                    tell('The link is in the clipboard.');
                  })
                }
              >
                Copy
              </button>
            </div>
          </label>
        )}
        {links.length > 0 && (
          <ul style={{ margin: 0, padding: 0, listStyle: 'none' }} aria-label="Valid links">
            {links.map(({ id, expiresAtMs }) => (
              <li class="row" key={id} style={{ minHeight: '40px' }}>
                <span class="mono">{id}</span>
                <span class="muted grow">ends in {duration(expiresAtMs - Date.now())}</span>
                <button
                  type="button"
                  class="button danger"
                  aria-label={`Revoke ${id}`}
                  onClick={() => void attempt(async () => (await revokeLink(id)) && (await reload()))}
                >
                  Revoke
                </button>
              </li>
            ))}
          </ul>
        )}
        <div class="dialog-foot">
          <button type="button" class="button" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
