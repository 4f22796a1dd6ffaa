export { Bridge } from './bridge.js';
export { ExistingProxies } from './existing-proxies.js';
export {
  type Admission,
  type Decided,
  type Decision,
  type DenialReason,
  explainDenial,
  Gate,
  type GateOptions,
  type NetworkProtocol,
  type NetworkRequest,
} from './gate.js';
export { type AskAboutHost, type HostAnswer, HostAnswers } from './host-answers.js';
export { type Namespaces, NetworkSpace, type SpacePort, type SpaceTools } from './network-space.js';
export { Proxy } from './proxy.js';
export { proxyVariables } from './proxy-variables.js';
export { type NetworkRules, RuleBook } from './rules.js';
