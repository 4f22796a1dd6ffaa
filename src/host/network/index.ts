export { Bridge } from './bridge.js';
export { ExistingProxies } from './existing-proxies.js';
export { type Decided, type Decision, Gate, type NetworkRequest } from './gate.js';
export { type AskAboutHost, type HostAnswer, HostAnswers } from './host-answers.js';
export { type Namespaces, NetworkSpace, type SpacePort, type SpaceTools } from './network-space.js';
export { Proxy } from './proxy.js';
export { proxyVariables } from './proxy-variables.js';
export type { NetworkRules } from './rules.js';
