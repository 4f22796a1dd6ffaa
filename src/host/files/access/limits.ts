/** The most a single `readFile` returns: what Codex allows, and about what one message can carry as base64. */
export const MAX_READ_FILE_BYTES = 512 * 1024 * 1024;

/** The most a single system call reads or writes, so that a slow disk holds a worker thread only briefly. */
export const IO_CHUNK_BYTES = 1024 * 1024;

/** Longer listings are refused, as in Codex; `walk` truncates instead. */
export const MAX_DIRECTORY_ENTRIES = 50_000;

/** Names fetched per system call; the default of 32 makes listing large directories slow. */
export const DIRECTORY_BATCH = 1024;

/** Entries of one directory inspected at a time: enough to hide latency, too few to fill the thread pool's queue. */
export const STAT_CONCURRENCY = 32;

/** Limits of `walk`, the same as Codex's. */
export const WALK_LIMITS = { depth: 64, directories: 10_000, entries: 50_000 } as const;

/** A walk is truncated when its answer is about this large, so that it fits a message. */
export const WALK_REPLY_BYTES = 4 * 1024 * 1024;

/** Links followed in a row before the path counts as a loop: the kernel's limit. */
export const MAX_LINK_HOPS = 40;

/** Directories one watch may cover; each takes a kernel watch, of which a user has a limited number. */
export const MAX_WATCHED_DIRECTORIES = 10_000;

/** Paths one `watchMissing` may list. */
export const MAX_MISSING_PATHS = 1024;
