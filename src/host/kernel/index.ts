export { bootTicks } from './boot-clock.js';
export { crypto, randomBytes } from './random.js';
export { type KernelCalls, kernelCalls } from './cached-calls.js';
export { sendDatagram } from './datagram.js';
export { receiveMessage, sendMessage, socketPair } from './descriptor-messages.js';
export { errnoName, errnoOf } from './errno.js';
export {
  anyCharacter,
  type CharacterTest,
  GlobMachine,
  inName,
  only,
  type PatternToken,
  type Progress,
} from './glob-machine.js';
export {
  asBuffer,
  childOf,
  componentsOf,
  hostPath,
  isRoot,
  isWithin,
  nameOf,
  parentOf,
  shownPath,
} from './host-path.js';
export { addressKey, keyOfKernelAddress } from './ip-bytes.js';
export { libc, type Libc, loadLibc } from './libc.js';
export {
  listenersInTable,
  listeningSockets,
  type ListeningSocket,
  SOCKET_TABLES,
} from './listening-sockets.js';
export { linux } from './linux.js';
export { socketDescriptor } from './socket-descriptor.js';
export { openBytes, SharedBytes } from './memory-file.js';
export { ownPlaces } from './own-places.js';
export {
  childrenOf,
  isDead,
  isUnseen,
  linkTarget,
  listPids,
  namesIn,
  parseStat,
  type ProcessStat,
  readLimits,
  readStat,
  statOf,
  threadsOf,
  type Unseen,
} from './procfs.js';
export { findProgram, mayExecute, type ProgramVerdict } from './program-search.js';
export { reserveSpace } from './reserve-space.js';
export { unwatchReadiness, watchReadiness } from './readiness.js';
export {
  hasKernel,
  openBeneath,
  openInside,
  openPipe,
  openWithoutLinks,
  ownerNamespace,
  pipeCapacity,
  readAvailable,
  readOrEnd,
  tryLock,
} from './sandbox-calls.js';
export { isScarcity, mentionsScarcity } from './scarcity.js';
export { spawnFailure, spawnFailures } from './spawn-failures.js';
export { type HelperName, trustedPath, trustedProgram } from './trusted-path.js';
export {
  type Attribute,
  extendedAttribute,
  extendedAttributes,
  makeNode,
  removeExtendedAttribute,
  setExtendedAttribute,
  setTimes,
  syncFileSystem,
} from './file-attributes.js';
export { forgetNames } from './forget-names.js';
export { TimeSlice } from '../../protocol/time-slice.js';
