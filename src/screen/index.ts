export { type CapturedScreen, ProcessScreen, type ProcessScreenOptions } from './process-screen.js';
export { ScreenRenderer } from './screen-renderer.js';
