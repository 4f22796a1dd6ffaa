import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import type { Recording } from '../terminal/recording.js';
import { dropped } from '../lib/dropped.js';
import { harmless } from '../lib/format.js';
import { useStore } from '../lib/store.js';
import { attempt } from '../lib/toasts.js';
import { Empty } from '../ui/empty.js';

const Player = lazy(() => import('../terminal/player.js'));

/** Plays a recording that somebody drops on the page. It never leaves the browser. */
export function PlayerView() {
  const [opened, setOpened] = useState<{ name: string; recording: Recording }>();
  const file = useStore(dropped);
  const open = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const { recordingFrom } = await import('../terminal/recording.js');
    setOpened({ name: file.name.replace(/\.cast$/, ''), recording: await recordingFrom(file) });
  };
  useEffect(() => {
    if (!file) return;
    dropped.set(null);
    void attempt(() => open(file));
  }, [file]);
  return (
    <>
      <header class="head">
        <h1>Player</h1>
        <span class="muted grow clip">{opened ? harmless(opened.name, 100) : ''}</span>
        <label class="button">
          Open a .cast file
          <input
            class="visually-hidden"
            type="file"
            accept=".cast,application/x-asciicast"
            onChange={(event) => void attempt(() => open(event.currentTarget.files?.[0]))}
          />
        </label>
      </header>
      <div class="body flush">
        {opened ? (
          <Suspense fallback={<div class="terminal-area" />}>
            <Player recording={opened.recording} name={opened.name} />
          </Suspense>
        ) : (
          <Empty title="Drop a recording here.">
            <p>
              Asciicast files of all versions can be played. They can be dropped on every view, and stay in
              this browser.
            </p>
          </Empty>
        )}
      </div>
    </>
  );
}
