export { createStreams } from './create-streams.js';
export { noJetStream } from './store-errors.js';
export { type Stored, StreamStore } from './stream-store.js';
export { registrySubject, streamsOf } from './streams.js';
