export { Gateway, type GatewayOptions } from './gateway.js';
export { type GatewayClient, readGatewayClients } from './gateway-clients.js';
