export { ExecError, isExecError } from './protocol/index.js';
