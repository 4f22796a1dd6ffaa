import { useStore } from '../lib/store.js';
import { dismiss, toasts } from '../lib/toasts.js';
import { Icon } from './icons.js';

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, kind, text, action }) => (
        <div class={`toast ${kind}`} key={id}>
          <span class="grow">{text}</span>
          {action && (
            <button
              type="button"
              class="button"
              onClick={() => {
                action.run();
                dismiss(id);
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="button quiet icon" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
