// Limits of tools, app servers, fleets, registries, consoles and clients. See limits-page.mjs for what the fields mean.

/** @type {import('./limits-page.mjs').Section[]} */
export const clientLimits = [
  {
    title: 'Tools for models',
    rows: [
      {
        what: 'Sessions of a model',
        value: 'tools/session/session-table.ts: DEFAULT_MAX_SESSIONS',
        option: '`maxSessions`',
        atLimit: 'Finished ones are forgotten first; then the least recently used one is killed.',
      },
      {
        what: 'Tokens of output in an answer',
        value: 'tools/arguments.ts: DEFAULT_OUTPUT_TOKENS',
        option: '`max_output_tokens`',
        atLimit: 'The middle is left out and can be read with `read_output`.',
      },
      {
        what: 'Length of a line in an answer, in characters',
        value: 'tools/toolbox.ts: DEFAULT_MAX_LINE_CHARS',
        option: '`maxLineChars`',
        atLimit: 'The middle of the line is left out.',
      },
      {
        what: 'Output on disk per session: beginning, end',
        value: [
          'tools/session/transcript.ts: DEFAULT_SPOOL_LIMITS.headBytes',
          'tools/session/transcript.ts: DEFAULT_SPOOL_LIMITS.tailBytes',
        ],
        atLimit: 'The middle is dropped, with a count.',
      },
      {
        what: 'Output on disk of all sessions',
        value: 'spool/quota.ts: DEFAULT_SPOOL_QUOTA_BYTES',
        option: '`spoolQuota`',
        atLimit: 'Finished sessions go first; then the middle is dropped, with a count.',
      },
      {
        what: 'Time `wait_for` waits at most',
        value: 'tools/wait-for.ts: MAX_WAIT_MS',
        atLimit: 'It answers without what was waited for.',
      },
      {
        what: 'Files read at a time',
        value: 'tools/files/read-file.ts: FILES_AT_A_TIME',
        atLimit: 'Later reads wait.',
      },
      {
        what: 'Calls of a model at a time',
        value: 'mcp/calls-in-flight.ts: MAX_IN_FLIGHT',
        atLimit: 'Later calls wait.',
      },
      {
        what: 'MCP clients over HTTP',
        value: 'mcp/http-sessions.ts: MAX_CLIENTS',
        atLimit: 'Refused with 503.',
      },
      {
        what: 'Time without a request before an MCP client over HTTP is gone',
        value: 'mcp/http-sessions.ts: IDLE_MS',
        atLimit: 'Its session ends, with everything it started.',
      },
      {
        what: 'Unread answers over HTTP, all clients',
        value: 'mcp/unread-answers.ts: MAX_UNREAD_BYTES',
        atLimit: 'The answers that have waited longest are dropped.',
      },
    ],
  },
  {
    title: 'App servers',
    rows: [
      {
        what: 'Running commands of a connection',
        value: 'app/run-table.ts: MAX_RUNS',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Waiting requests of a connection',
        value: 'app/admission-control.ts: MAX_WAITING',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Captured output per stream',
        value: 'app/start-run.ts: DEFAULT_CAP_BYTES',
        option: '`outputBytesCap`, `disableOutputCap`',
        atLimit: 'The rest is dropped.',
      },
      {
        what: 'Time limit of a command',
        value: 'app/start-run.ts: DEFAULT_TIMEOUT_MS',
        option: '`timeoutMs`, `disableTimeout`',
        atLimit: 'It is killed; the exit code is 124.',
      },
      {
        what: 'Captured output in memory: connection, server',
        value: ['app/captured-room.ts: MEMORY_BYTES.connection', 'app/captured-room.ts: MEMORY_BYTES.server'],
        atLimit: 'It goes to disk; answers are made as earlier ones are read.',
      },
      {
        what: 'Captured output on disk: connection, server',
        value: ['app/captured-room.ts: DISK_BYTES.connection', 'app/captured-room.ts: DISK_BYTES.server'],
        atLimit: 'The command fails.',
      },
      {
        what: 'A file read in one piece',
        value: 'app/file-handlers.ts: MAX_READ_BYTES',
        atLimit: 'The request fails.',
      },
      {
        what: 'Watches of a connection',
        value: 'app/file-watches.ts: MAX_WATCHES',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Known environments',
        value: 'environment/manager.ts: MAX_ENVIRONMENTS',
        atLimit: 'Refused with `overloaded`.',
      },
    ],
  },
  {
    title: 'Fleets and registries',
    rows: [
      {
        what: 'In flight on a channel, per direction',
        value: 'fleet/channel/shares.ts: MAX_WINDOW_BYTES',
        atLimit: 'The sender waits.',
      },
      {
        what: 'In flight to a connection to NATS',
        value: 'fleet/channel/shares.ts: MAX_BYTES_PER_BUS',
        atLimit: 'Each of many channels has less.',
      },
      {
        what: 'Channels of a connection to NATS',
        value: 'fleet/bus/bus.ts: MAX_CHANNELS',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Channels of one client to one machine',
        value: 'fleet/member-channels.ts: MAX_CHANNELS_PER_CLIENT',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Silence on a channel',
        value: 'fleet/channel/channel-watch.ts: SILENCE_TICKS * TICK_MS',
        atLimit: 'The channel is given up, and the session resumes on another one.',
      },
      {
        what: 'Machines a command runs on at a time',
        value: 'fleet/fan-out.ts: DEFAULT_MAX_PARALLEL',
        option: '`run --max-parallel`',
        atLimit: 'The others wait.',
      },
      {
        what: 'Conditions of a selector',
        value: 'fleet/selector.ts: MAX_TERMS',
        atLimit: 'Refused with `invalidConfiguration`.',
      },
      {
        what: 'Length of a job',
        value: 'fleet/jobs/jobs.ts: MAX_ORDER_BYTES',
        atLimit: 'Refused with `invalidConfiguration`.',
      },
      {
        what: 'All jobs of a fleet, on each NATS node',
        value: 'fleet/store/streams.ts: MAX_JOBS_BYTES',
        atLimit: 'No more jobs are accepted.',
      },
      {
        what: 'Time jobs and their output are remembered',
        value: 'fleet/store/streams.ts: REMEMBERED_MS',
        atLimit: 'They are forgotten.',
      },
      {
        what: 'Output of all jobs, on each NATS node',
        value: 'fleet/store/streams.ts: MAX_OUTPUT_BYTES',
        atLimit: 'The oldest is dropped; readers learn how much.',
      },
      {
        what: 'Time a machine may be unreachable before its jobs go to others',
        value: 'fleet/jobs/job-runner.ts: DEFAULT_JOB_LEASE_MS',
        option: '`serve --job-lease`',
        atLimit: 'Its programs have ended by then, and others may run the jobs.',
      },
      {
        what: 'Clients of a machine in a registry',
        value: 'registry/service/machine-line.ts: MAX_CLIENTS',
        atLimit: 'Refused.',
      },
      {
        what: 'The same with one token',
        value: 'registry/service/machine-line.ts: MAX_CLIENTS_PER_TOKEN',
        atLimit: 'Refused.',
      },
      {
        what: 'Registrations of an environment',
        value: 'registry/service/registrations.ts: MAX_PER_ENVIRONMENT',
        atLimit: 'The oldest is dropped.',
      },
    ],
  },
  {
    title: 'Console',
    rows: [
      {
        what: 'Browsers signed in',
        value: 'console/console-sessions.ts: MAX_SESSIONS',
        atLimit: 'The one that signed in first is signed out, viewers before others.',
      },
      {
        what: 'Time before a browser must sign in again',
        value: 'console/console-sessions.ts: SESSION_MS',
        atLimit: 'It is signed out.',
      },
      {
        what: 'Failed attempts to sign in, per address and minute',
        value: 'console/sign-in-attempts.ts: MAX_FAILURES',
        atLimit: 'Refused with 429.',
      },
      {
        what: 'Valid links for viewers',
        value: 'console/view-links.ts: MAX_LINKS',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Validity of a link: default, maximum',
        value: ['console/view-links.ts: DEFAULT_LINK_MS', 'console/view-links.ts: MAX_LINK_MS'],
        atLimit: 'It ends, and whoever uses it is disconnected.',
      },
      {
        what: 'Connections of all viewers',
        value: 'console/console-lines.ts: MAX_VIEWER_LINES',
        atLimit: 'Refused.',
      },
      {
        what: 'Open ports',
        value: 'console/ports/port-gates.ts: MAX_GATES',
        atLimit: 'Refused with `overloaded`.',
      },
    ],
  },
  {
    title: 'Library and command line',
    rows: [
      {
        what: 'Output of `run`, per stream',
        value: 'contract/run/run-command.ts: DEFAULT_MAX_OUTPUT_BYTES',
        option: '`maxOutputBytes`',
        atLimit: 'The rest is dropped; `truncatedBytes` counts it.',
      },
      {
        what: 'Length of a line of `lines`',
        value: 'contract/run/command-lines.ts: DEFAULT_MAX_LINE_BYTES',
        option: '`maxLineBytes`',
        atLimit: 'Fails with `lineTooLong`.',
      },
      {
        what: 'Time to connect',
        value: 'transport/dial-target.ts: DEFAULT_CONNECT_TIMEOUT_MS',
        option: '`connectTimeoutMs`',
        atLimit: 'Fails with `notConnected`.',
      },
      {
        what: 'Time a lost connection is retried',
        value: 'client/connection/client-options.ts: DEFAULT_GIVE_UP_AFTER_MS',
        atLimit: 'Everything pending fails with `contactLost` or `connectionClosed`.',
      },
      {
        what: 'Connections through one `forward` at a time',
        value: 'contract/ports/forward.ts: MAX_CONNECTIONS',
        atLimit: 'Further ones wait to be accepted.',
      },
      {
        what: 'Time a program has to end after `kill`',
        value: 'cli/commands/kill.ts: DEFAULT_GRACE_MS',
        option: '`kill --grace`',
        atLimit: 'It is killed.',
      },
      {
        what: 'Length of a line in a recording',
        value: 'recording/file-lines.ts: MAX_LINE_BYTES',
        atLimit: 'Refused, with the number of the line.',
      },
      {
        what: 'Screen of a recording: rows, columns',
        value: ['recording/recorded-screen.ts: MAX_SIZE.rows', 'recording/recorded-screen.ts: MAX_SIZE.cols'],
        atLimit: 'Cut off.',
      },
    ],
  },
];
