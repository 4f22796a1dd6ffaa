/**
 * Machines that dial out: join a fleet on NATS, and reach the machines in it.
 *
 * @module execwire/fleet
 */

export { type FleetSettings, readFleetSettings } from './bus/bus-settings.js';
export type { FleetEvent } from './control.js';
export { DEFAULT_MAX_PARALLEL, fanOut, type FanOutEvent, type FanOutOptions } from './fan-out.js';
export { Fleet } from './fleet.js';
export { fleetDialler, type FleetDialOptions } from './fleet-url.js';
export type { Machine, MachineState, MachineUsage } from './machine.js';
export type { Job, JobOutput, JobRequest, JobResult } from './jobs/job.js';
export { Jobs } from './jobs/jobs.js';
export type { JoinOptions, MachineServer, MemberLog } from './join-options.js';
export { FleetMember } from './member.js';
export { prepareFleet } from './store/prepare-fleet.js';
export type { RemoteMachine } from './remote-machines.js';
export { nameFrom } from './subjects.js';
export { parseSelector, type Selector, type SelectorTerm } from './selector.js';
