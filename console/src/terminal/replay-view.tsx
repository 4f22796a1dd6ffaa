import { attachTo, type ProcessPlace } from '../lib/attach.js';
import { useLoaded } from '../lib/opened.js';
import { Empty } from '../ui/empty.js';
import Player from './player.js';
import { type Recording, recordingOf } from './recording.js';

/** What a process did, from its beginning to now. */
export default function ReplayView(place: ProcessPlace) {
  const { value: recording, problem } = useLoaded(() => load(place), []);
  if (problem !== undefined)
    return (
      <Empty title="This cannot be played.">
        <p>{problem}</p>
      </Empty>
    );
  if (!recording) return <Empty title="Loading…" />;
  return <Player recording={recording} name={place.processId} />;
}

async function load(place: ProcessPlace): Promise<Recording> {
  const environment = await place.machine.connect();
  try {
    return await recordingOf(await attachTo(environment, place));
  } finally {
    await environment.close();
  }
}
