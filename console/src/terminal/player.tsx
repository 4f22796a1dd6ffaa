import { useRef, useState } from 'preact/hooks';
import { saveAs } from '../lib/download.js';
import { clock } from '../lib/format.js';
import { useOpened } from '../lib/opened.js';
import { attempt } from '../lib/toasts.js';
import { Icon } from '../ui/icons.js';
import { Playback, STILL } from './playback.js';
import { castFile, momentsOf, type Recording } from './recording.js';

const SPEEDS = [0.5, 1, 2, 4, 8, 16];
const STEP_MS = 5_000;

/** A recording with its time line. */
export default function Player({ recording, name }: { recording: Recording; name: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [playback, state] = useOpened(
    () => (host.current ? new Playback(host.current, recording) : undefined),
    STILL,
    [recording],
  );
  return (
    <>
      {recording.isCut && <p class="notice">This recording is long: only its beginning is shown.</p>}
      <div class="terminal-area">
        <div class="terminal-host" ref={host} role="group" aria-label="Recording" />
      </div>
      <div class="player-bar">
        <button
          type="button"
          class="button primary icon"
          aria-label={state.isPlaying ? 'Pause' : 'Play'}
          onClick={() => (state.isPlaying ? playback?.pause() : playback?.play())}
        >
          <Icon name={state.isPlaying ? 'pause' : 'play'} />
        </button>
        <span class="mono muted">
          {clock(state.atMs)} / {clock(recording.durationMs)}
        </span>
        <input
          type="range"
          min={0}
          max={Math.max(1, recording.durationMs)}
          value={state.atMs}
          step={10}
          aria-label="Time line"
          aria-valuetext={`${clock(state.atMs)} of ${clock(recording.durationMs)}`}
          onInput={(event) => {
            playback?.pause();
            playback?.seek(Number(event.currentTarget.value));
          }}
          onKeyDown={(event) => {
            const step = event.key === 'PageUp' ? STEP_MS : event.key === 'PageDown' ? -STEP_MS : 0;
            if (step === 0) return;
            event.preventDefault();
            playback?.seek(state.atMs + step);
          }}
        />
        <select
          class="input fit"
          aria-label="Speed"
          value={state.speed}
          onChange={(event) => playback?.setSpeed(Number(event.currentTarget.value))}
        >
          {SPEEDS.map((speed) => (
            <option value={speed} key={speed}>
              {speed}×
            </option>
          ))}
        </select>
        <label class="row">
          <input
            type="checkbox"
            checked={state.skipsIdle}
            onChange={(event) => playback?.setSkipsIdle(event.currentTarget.checked)}
          />
          <span>Skip pauses</span>
        </label>
        <Find recording={recording} atMs={state.atMs} onFound={(atMs) => playback?.seek(atMs)} />
        <button
          type="button"
          class="button"
          onClick={() => void attempt(() => saveAs(`${name}.cast`, castFile(recording)))}
        >
          <Icon name="down" />
          Download
        </button>
      </div>
    </>
  );
}

function Find(props: { recording: Recording; atMs: number; onFound: (atMs: number) => void }) {
  const [text, setText] = useState('');
  const [count, setCount] = useState<number | null>(null);
  return (
    <form
      class="row"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const moments = text === '' ? [] : momentsOf(props.recording, text);
        setCount(text === '' ? null : moments.length);
        const next = moments.find((atMs) => atMs > props.atMs) ?? moments[0];
        if (next !== undefined) props.onFound(next);
      }}
    >
      <input
        class="input"
        style={{ width: '150px' }}
        type="search"
        placeholder="Find"
        aria-label="Find what was printed"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {count !== null && (
        <span class="muted" role="status">
          {count === 0 ? 'not found' : count === 1 ? '1 place' : `${count} places`}
        </span>
      )}
    </form>
  );
}
