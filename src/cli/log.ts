import type { ServerLog } from '../server/index.js';
import { printable } from './terminal/table.js';

export type LogFormat = 'human' | 'json';
export type LogLevel = 'debug' | 'info' | 'warn' | 'silent';

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, silent: 3 };

/** Logs to stderr; stdout belongs to the protocol. */
export async function createLog(options: { format: LogFormat; level: LogLevel }): Promise<ServerLog> {
  if (options.format === 'human') return humanLog(options.level);
  const { pino } = await import('pino');
  const logger = pino({ level: options.level, base: null }, pino.destination(2));
  return {
    debug: (details, message) => logger.debug(details, message),
    info: (details, message) => logger.info(details, message),
    warn: (details, message) => logger.warn(details, message),
  };
}

function humanLog(level: LogLevel): ServerLog {
  const write = (rank: LogLevel, details: Record<string, unknown>, message: string): void => {
    if (RANK[rank] < RANK[level]) return;
    const time = new Date().toISOString().slice(11, 23);
    const rest = Object.entries(details)
      .map(([name, value]) => ` ${name}=${printable(String(value))}`)
      .join('');
    process.stderr.write(`${time} ${rank === 'warn' ? 'warning: ' : ''}${message}${rest}\n`);
  };
  return {
    debug: (details, message) => write('debug', details, message),
    info: (details, message) => write('info', details, message),
    warn: (details, message) => write('warn', details, message),
  };
}
