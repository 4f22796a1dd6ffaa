export { RemoteMachine, type RemoteMachineOptions } from './executor/remote-machine.js';
export { type RegistryPlace, requireRegistryUrl } from './registry-calls.js';
