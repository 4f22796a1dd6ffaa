/** Receives the server's log entries. They never contain argv, environment variables or tokens. */
export interface ServerLog {
  debug(details: Record<string, unknown>, message: string): void;
  info(details: Record<string, unknown>, message: string): void;
  warn(details: Record<string, unknown>, message: string): void;
}

export const silentLog: ServerLog = { debug: () => undefined, info: () => undefined, warn: () => undefined };
