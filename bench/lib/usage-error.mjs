/** The bench was called in a way that makes no sense here; the message says it all. */
export class UsageError extends Error {}
