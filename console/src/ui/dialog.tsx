import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** A modal dialog. Escape and the backdrop close it, and the focus returns to where it was. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly className?: string;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const onClose = useRef(props.onClose);
  onClose.current = props.onClose;
  // At once, not after the next frame: what somebody types right after opening it belongs into it.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!dialog) return undefined;
    const closed = (): void => onClose.current();
    // Escape: at once, since the event of having closed may come after the next key, which may be to open it again.
    dialog.addEventListener('cancel', closed);
    dialog.addEventListener('close', closed);
    dialog.showModal();
    return () => {
      dialog.removeEventListener('cancel', closed);
      dialog.removeEventListener('close', closed);
      dialog.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={props.className ?? ''}
      aria-label={props.title}
      onClick={(event) => {
        if (event.target === element.current) props.onClose();
      }}
    >
      {props.children}
    </dialog>
  );
}

/** Asks before something that cannot be undone. */
export function Confirm(props: {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="dialog">
        <h2>{props.title}</h2>
        <p class="muted">{props.text}</p>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button
            type="button"
            class="button danger"
            onClick={() => {
              props.onConfirm();
              props.onClose();
            }}
          >
            {props.action}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
