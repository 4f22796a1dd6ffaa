import { useEffect, useState } from 'preact/hooks';
import { Empty } from '../ui/empty.js';
import type { ProcessPlace } from '../views/process.js';
import Player from './player.js';
import { type Recording, recordingOf } from './recording.js';

/** What a process did, from its beginning to now. */
export default function ReplayView({ machine, session, processId }: ProcessPlace) {
  const [recording, setRecording] = useState<Recording>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    const load = async (): Promise<void> => {
      const environment = await machine.connect();
      try {
        const child = await environment.attach(processId, {
          ...(session === 'kept' ? {} : { sessionId: session }),
          fromEnd: true,
          mayPause: false,
          keyboard: 'view',
        });
        const loaded = await recordingOf(child);
        if (!isOver) setRecording(loaded);
      } finally {
        await environment.close();
      }
    };
    load().catch((error: unknown) => {
      if (!isOver) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => {
      isOver = true;
    };
  }, []);
  if (problem !== undefined) return <Empty title="This cannot be played.">{<p>{problem}</p>}</Empty>;
  if (!recording) return <Empty title="Loading…" />;
  return <Player recording={recording} name={processId} />;
}
