import type { ComponentChildren } from 'preact';

/** What is shown where there is nothing, and what to do about it. */
export function Empty(props: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{props.title}</strong>
      {props.children}
    </div>
  );
}
