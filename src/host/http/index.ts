export { headerSecret } from './header-secrets.js';
export {
  type HttpAnswer,
  type OutgoingHeader,
  type OutgoingRequest,
  sendHttpRequest,
} from './http-request.js';
