export { RemoteMachine } from './executor/remote-machine.js';
export { requireRegistryUrl } from './registry-calls.js';
