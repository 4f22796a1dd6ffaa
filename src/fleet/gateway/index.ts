export { Gateway } from './gateway.js';
export { readGatewayClients } from './gateway-clients.js';
