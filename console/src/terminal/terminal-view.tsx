import { useRef, useState } from 'preact/hooks';
import type { ProcessPlace } from '../lib/attach.js';
import { useOpened } from '../lib/opened.js';
import { canChange } from '../lib/session.js';
import { Icon } from '../ui/icons.js';
import { CONNECTING, TerminalSession, type TerminalState } from './terminal-session.js';

/** The terminal of a process: watch it, search in it, type. */
export default function TerminalView(props: ProcessPlace & { readonly label?: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [session, state] = useOpened(
    () => (host.current ? new TerminalSession(host.current, props) : undefined),
    CONNECTING,
  );
  return (
    <>
      <Bar session={session} state={state} label={props.label} />
      <div class="terminal-area">
        <div class="terminal-host" ref={host} role="group" aria-label="Terminal" />
      </div>
    </>
  );
}

function Bar(props: {
  session: TerminalSession | undefined;
  state: TerminalState;
  label: string | undefined;
}) {
  const { session, state } = props;
  const [text, setText] = useState('');
  const find = (isBack: boolean): void => {
    if (isBack) session?.shown.search.findPrevious(text);
    else session?.shown.search.findNext(text);
  };
  return (
    <div class="terminal-bar">
      <Phase state={state} />
      <span class="grow clip muted">{props.label ?? state.title}</span>
      {state.size && (
        <span class="muted narrow-hide" style={{ fontSize: '12px' }}>
          {state.size.cols} × {state.size.rows}
        </span>
      )}
      {props.label === undefined && (
        <input
          class="input narrow-hide"
          style={{ width: '160px' }}
          type="search"
          placeholder="Search"
          aria-label="Search in the terminal"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') find(event.shiftKey);
          }}
        />
      )}
      {canChange() && state.phase === 'live' && (
        <button
          type="button"
          class={`button ${state.holds ? '' : 'primary'}`}
          onClick={() => void (state.holds ? session?.giveKeyboard() : session?.takeKeyboard())}
        >
          <Icon name={state.holds ? 'eye' : 'keyboard'} />
          {state.holds ? 'Stop typing' : 'Take the keyboard'}
        </button>
      )}
    </div>
  );
}

function Phase({ state }: { state: TerminalState }) {
  const { phase, holds, problem } = state;
  if (phase === 'failed')
    return (
      <span class="badge bad" role="alert">
        {problem}
      </span>
    );
  if (phase === 'ended') return <span class="badge">ended</span>;
  if (phase === 'away') return <span class="badge warn">reconnecting</span>;
  if (phase === 'connecting') return <span class="badge warn">connecting</span>;
  return holds ? <span class="badge good">you type</span> : <span class="badge">watching</span>;
}
