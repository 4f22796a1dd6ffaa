/** Where the server says what it does. Never argv, environment or tokens. */
export interface AppLog {
  debug(details: Record<string, unknown>, message: string): void;
  info(details: Record<string, unknown>, message: string): void;
  warn(details: Record<string, unknown>, message: string): void;
}

export const silentLog: AppLog = { debug: () => undefined, info: () => undefined, warn: () => undefined };
