export { ProcessScreen } from './process-screen.js';
export { ScreenRenderer } from './screen-renderer.js';
