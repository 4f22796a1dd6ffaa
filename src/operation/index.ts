/** What an operator sees of a server: its log, an audit file, metrics. */

export { AuditFile } from './audit-file.js';
export { logEvents } from './event-log.js';
export { MetricsListener } from './metrics-listener.js';
export { ServerMetrics } from './server-metrics.js';
