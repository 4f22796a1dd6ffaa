export { castCues } from './cast-file.js';
export type { Cues } from './cue.js';
export { render, type RecordingFormat } from './formats.js';
export { historyCues } from './history-cues.js';
export { RecordedScreen } from './recorded-screen.js';
export { schedule, type Scheduled } from './schedule.js';
export { paintedLine, ScreenPainter } from './screen-painter.js';
