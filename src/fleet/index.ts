/**
 * Machines that dial out: join a fleet on NATS, and reach the machines in it.
 *
 * @module execwire/fleet
 */

export { type FleetSettings, readFleetSettings } from './bus/bus-settings.js';
export { Fleet } from './fleet.js';
export { fleetDialler, type FleetDialOptions } from './fleet-url.js';
export type { Machine, MachineState, MachineUsage } from './machine.js';
export { FleetMember, type JoinOptions, type MachineServer, type MemberLog } from './member.js';
export { nameFrom } from './subjects.js';
export { parseSelector, type Selector, type SelectorTerm } from './selector.js';
