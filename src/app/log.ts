/** The server's log. It never contains arguments, environment variables or tokens. */
export interface AppLog {
  debug(details: Record<string, unknown>, message: string): void;
  info(details: Record<string, unknown>, message: string): void;
  warn(details: Record<string, unknown>, message: string): void;
}

export const silentLog: AppLog = { debug: () => undefined, info: () => undefined, warn: () => undefined };
