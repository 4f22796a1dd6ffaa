// Limits of servers. See limits-page.mjs for what the fields mean.

/** @type {import('./limits-page.mjs').Section[]} */
export const serverLimits = [
  {
    title: 'Connections and messages',
    rows: [
      {
        what: 'Connections of a listener',
        value: 'transport/door.ts: DEFAULT_DOOR_LIMITS.maxConnections',
        atLimit: 'Refused; try again later.',
      },
      {
        what: 'Connections that have not authenticated yet',
        value: 'transport/door.ts: DEFAULT_DOOR_LIMITS.maxNewcomers',
        atLimit: 'Refused; try again later.',
      },
      {
        what: 'The same, per address (loopback is exempt)',
        value: 'transport/door.ts: DEFAULT_DOOR_LIMITS.maxNewcomersPerOrigin',
        atLimit: 'Refused; try again later.',
      },
      {
        what: 'Time for a TLS handshake and the head of a request',
        value: 'transport/door.ts: GREETING_MS',
        atLimit: 'The connection is closed.',
      },
      {
        what: 'Silence of a client; it is pinged every 15 s',
        value: 'transport/liveness.ts: DEFAULT_LIVENESS.silenceLimitMs',
        atLimit: 'The connection is closed, and the session waits for the client to resume it.',
      },
      {
        what: 'Length of a message',
        value: 'transport/websocket-listener.ts: MAX_MESSAGE_BYTES',
        atLimit: 'The connection is closed.',
      },
      {
        what: 'Nesting of a message',
        value: 'rpc/json-structure.ts: MAX_JSON_DEPTH',
        atLimit: 'Refused with `invalidMessage`.',
      },
      {
        what: 'Values in a message',
        value: 'rpc/json-structure.ts: MAX_JSON_VALUES',
        atLimit: 'Refused with `invalidMessage`.',
      },
      {
        what: 'Unfinished messages, all connections of a listener',
        value: 'transport/unfinished-messages.ts: MAX_UNFINISHED_BYTES',
        atLimit: 'The connection without progress for the longest time is closed.',
      },
      {
        what: 'Requests in progress per connection',
        value: 'rpc/requests-in-progress.ts: MAX_REQUESTS',
        atLimit: 'No more are read until some complete.',
      },
      {
        what: 'The same in bytes',
        value: 'rpc/requests-in-progress.ts: MAX_REQUEST_BYTES',
        atLimit: 'No more are read until some complete.',
      },
      {
        what: 'Unread answers per connection',
        value: 'rpc/answer-queue.ts: MAX_UNREAD_BYTES',
        atLimit: 'Large answers are produced later; then requests are no longer read.',
      },
      {
        what: 'Unsent notifications per connection',
        value: 'rpc/outbox.ts: OUTBOX_FULL_BYTES',
        atLimit: 'Output stays in the log until the client has caught up.',
      },
      {
        what: 'What a connection may hold beyond the fixed share of each process: unread output, unsent messages, queued input',
        value: 'rpc/line-account.ts: MAX_HELD_BYTES',
        atLimit: 'Windows stop growing, writes are rejected as a whole, requests are no longer read.',
      },
      {
        what: 'Pongs in flight',
        value: 'transport/websocket-pongs.ts: MAX_UNSENT_PONGS',
        atLimit: 'Further pings are not answered.',
      },
    ],
  },
  {
    title: 'Sessions and processes',
    rows: [
      {
        what: 'Sessions of a server',
        value: 'server/session-registry.ts: DEFAULT_MAX_SESSIONS',
        option: '`serve --max-sessions`; `maxSessions`',
        atLimit: 'Refused with `tooManySessions`.',
      },
      {
        what: 'Time a session outlives its connection',
        value: 'server/session-registry.ts: DEFAULT_SESSION_TTL_MS',
        option: '`serve --session-ttl`; `sessionTtlMs`',
        atLimit: 'It ends, with everything it started that has no lease.',
      },
      {
        what: 'Processes of a session',
        value: 'host/process-table.ts: DEFAULT_MAX_PROCESSES',
        option: '`serve --max-processes`; `maxProcesses`',
        atLimit: 'Closed ones that were fully reported are forgotten; then refused with `tooManyProcesses`.',
      },
      {
        what: 'Time a closed process can be read',
        value: 'host/process-table.ts: RETAIN_CLOSED_MS',
        atLimit: 'It is forgotten.',
      },
      {
        what: 'Kept processes of a server (those with a lease)',
        value: 'server/keep.ts: DEFAULT_MAX_KEPT_PROCESSES',
        option: '`serve --max-kept`; `maxKeptProcesses`',
        atLimit: 'Refused with `tooManyKeptProcesses`.',
      },
      {
        what: 'Time a kept process can be read after its end',
        value: 'server/kept-room.ts: DEFAULT_KEEP_ENDED_MS',
        option: '`serve --keep-ended`; `keepEndedMs`',
        atLimit: 'It is forgotten.',
      },
      {
        what: 'Kept processes that have ended',
        value: 'server/ended-processes.ts: MAX_ENDED',
        atLimit: 'The client with the most loses the one that ended first.',
      },
      {
        what: 'Shares of a server',
        value: 'server/shares.ts: MAX_SHARES',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Validity of a share',
        value: 'server/handlers/share-handlers.ts: MAX_MS',
        option: '`share --for` for less',
        atLimit: 'Refused with `invalidParams`.',
      },
      {
        what: 'Viewers with one share',
        value: 'server/shared-view.ts: MAX_VIEWERS',
        atLimit: 'Refused with `tooManySessions`.',
      },
      {
        what: 'Time programs have to end when the server is stopped',
        value: 'cli/options/operation-options.ts: DEFAULT_SHUTDOWN_GRACE_MS',
        option: '`serve --shutdown-grace`',
        atLimit: 'They are killed.',
      },
    ],
  },
  {
    title: 'Output and input',
    rows: [
      {
        what: 'Output kept per process for late readers',
        value: 'contract/process-log.ts: DEFAULT_RETAINED_BYTES',
        option: '`serve --retain-bytes`; `retainedBytes`',
        atLimit: 'The oldest is dropped; readers learn how many bytes.',
      },
      {
        what: 'The same in chunks',
        value: 'contract/retained-entries.ts: MAX_RETAINED_ENTRIES',
        atLimit: 'The oldest are dropped; readers learn how many bytes.',
      },
      {
        what: 'Unread output of a local reader that holds its program',
        value: 'contract/process-log.ts: DEFAULT_WINDOW_BYTES',
        atLimit: 'The program blocks in its write.',
      },
      {
        what: 'Unread output of a remote reader on a fast connection',
        value: 'rpc/line-window.ts: MAX_WINDOW_BYTES',
        atLimit: 'The program blocks in its write.',
      },
      {
        what: 'Unread output of a server that promised backpressure',
        value: 'client/connection/unread-budget.ts: MAX_UNREAD_BYTES',
        atLimit: 'The process counts as lost.',
      },
      {
        what: 'Queued stdin before the answer to a write waits',
        value: 'contract/queued-input.ts: STDIN_SOFT_LIMIT_BYTES',
        atLimit: 'The answer waits until the program reads.',
      },
      {
        what: 'Queued stdin per process',
        value: 'host/child-input.ts: STDIN_HARD_LIMIT_BYTES',
        atLimit: 'The write is rejected as a whole with `stdinFull`.',
      },
      {
        what: 'Queued stdin of a session, up to 2 MiB of each process',
        value: 'contract/queued-input.ts: MAX_SHARED_BYTES',
        atLimit: 'Each process has 64 KiB; beyond that, `stdinFull`.',
      },
      {
        what: 'Queued stdin of a server, beyond 64 KiB of each process',
        value: 'contract/server-input.ts: MAX_BYTES',
        atLimit: 'Each session has 1 MiB left; beyond that, `stdinFull`.',
      },
      {
        what: 'Output on disk per process',
        value: 'spool/spool.ts: DEFAULT_PROCESS_BYTES',
        option: '`serve --spool-bytes`; `spool.processBytes`',
        atLimit: 'The oldest is dropped, with a count.',
      },
      {
        what: 'Output on disk of all processes',
        value: 'spool/spool.ts: DEFAULT_TOTAL_BYTES',
        option: '`serve --spool-total-bytes`; `spool.totalBytes`',
        atLimit: 'Finished processes go first, oldest first; then the oldest output.',
      },
      {
        what: 'Processes with output on disk',
        value: 'spool/spool.ts: MAX_STORED',
        atLimit: 'The one that ended first is forgotten.',
      },
      {
        what: 'Lines in one answer',
        value: 'lines/line-bounds.ts: MAX_LINES',
        atLimit: 'The answer ends; a cursor continues.',
      },
      {
        what: 'Output searched for one answer',
        value: 'lines/line-bounds.ts: MAX_SEARCHED_BYTES',
        atLimit: 'The answer ends; a cursor continues.',
      },
      {
        what: 'Length of a pattern for lines, in characters',
        value: 'lines/line-pattern.ts: MAX_PATTERN_CHARS',
        atLimit: 'Refused with `invalidParams`.',
      },
      {
        what: 'Output parsed at once for a screen',
        value: 'screen/process-screen.ts: MAX_BYTES',
        atLimit: 'Of older output only the lasting effects count: screen, modes, colours.',
      },
      {
        what: 'Cells of a screen',
        value: 'screen/process-screen.ts: MAX_CELLS',
        atLimit: 'Larger terminals have no screen.',
      },
    ],
  },
];
