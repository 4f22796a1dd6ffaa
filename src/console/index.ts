/** The web console: who may use it, and how it reaches machines. The page itself is in `console/`. */
export { ConsoleServer } from './console-server.js';
export type { ConsoleFleet, ConsoleMachine, FleetRow, FleetView } from './machine.js';
