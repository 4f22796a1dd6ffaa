import { useRef, useState } from 'preact/hooks';
import type { ProcessPlace } from '../lib/attach.js';
import { useOpened } from '../lib/opened.js';
import { canChange } from '../lib/session.js';
import { useStore } from '../lib/store.js';
import { Icon } from '../ui/icons.js';
import { CONNECTING, TerminalSession, type TerminalState } from './terminal-session.js';

/** One of several terminals: what it is called, and where it is alone. */
interface Named {
  readonly named?: { readonly label: string; readonly address: string } | undefined;
}

/** The terminal of a process: watch it, search in it, type. */
export default function TerminalView(props: ProcessPlace & Named) {
  const host = useRef<HTMLDivElement>(null);
  const [session, state] = useOpened(
    () => (host.current ? new TerminalSession(host.current, props) : undefined),
    CONNECTING,
  );
  return (
    <>
      <Bar session={session} state={state} named={props.named} />
      <div class="terminal-area">
        <div class="terminal-host" ref={host} role="group" aria-label="Terminal" />
      </div>
    </>
  );
}

function Bar(
  props: Named & {
    session: TerminalSession | undefined;
    state: TerminalState;
  },
) {
  const { session, state, named } = props;
  const { holds } = state;
  const keyboard = holds ? 'Stop typing' : 'Take the keyboard';
  const isSmall = named !== undefined;
  return (
    <div class="terminal-bar wrap">
      <Phase state={state} />
      {isSmall ? (
        <a class="grow clip mono" href={named.address}>
          {named.label}
        </a>
      ) : (
        <span class="grow clip muted">{state.title}</span>
      )}
      {state.size && (
        <span class="muted narrow-hide label" style={{ fontSize: '12px' }}>
          {state.size.cols} × {state.size.rows}
        </span>
      )}
      {!isSmall && session && <Find session={session} />}
      {canChange() && state.phase === 'live' && (
        <button
          type="button"
          class={`button ${isSmall ? 'icon' : holds ? '' : 'primary'}`}
          {...(isSmall ? { 'aria-label': keyboard, title: keyboard } : {})}
          onClick={() => void (holds ? session?.giveKeyboard() : session?.takeKeyboard())}
        >
          <Icon name={holds ? 'eye' : 'keyboard'} />
          {!isSmall && keyboard}
        </button>
      )}
    </div>
  );
}

/** Finds what is on the screen and what has scrolled out of it. Everything else is searched in the output. */
function Find({ session }: { session: TerminalSession }) {
  const [text, setText] = useState('');
  const { count, at } = useStore(session.shown.found);
  return (
    <div class="row search narrow-hide" role="search">
      {text !== '' && count !== null && (
        <span class="muted" role="status">
          {count === 0 ? 'not found' : at < 0 ? `${count}+` : `${at + 1} of ${count}`}
        </span>
      )}
      <input
        class="input"
        type="search"
        placeholder="Find"
        aria-label="Search in the terminal"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          session.shown.find(event.currentTarget.value, 'here');
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') session.shown.find(text, event.shiftKey ? 'back' : 'on');
        }}
      />
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
  if (phase === 'connecting') return <span class="badge">connecting</span>;
  return holds ? <span class="badge good">you type</span> : <span class="badge">watching</span>;
}
