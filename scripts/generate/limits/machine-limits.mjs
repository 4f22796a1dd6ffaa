// Limits of what a server does on its machine. See limits-page.mjs for what the fields mean.

/** @type {import('./limits-page.mjs').Section[]} */
export const machineLimits = [
  {
    title: 'Files',
    rows: [
      {
        what: 'Open files per connection',
        value: 'server/handlers/file-handles.ts: MAX_HANDLES',
        atLimit: 'Refused with `tooManyHandles`.',
      },
      {
        what: 'A file read in one piece',
        value: 'host/files/access/limits.ts: MAX_READ_FILE_BYTES',
        atLimit: 'Refused with `fileTooLarge`; open it instead.',
      },
      {
        what: 'Entries of a listed directory',
        value: 'host/files/access/limits.ts: MAX_DIRECTORY_ENTRIES',
        atLimit: 'Refused with `ioFailed`; walk it instead.',
      },
      {
        what: 'Depth, directories and entries of a walk',
        value: [
          'host/files/access/limits.ts: WALK_LIMITS.depth',
          'host/files/access/limits.ts: WALK_LIMITS.directories',
          'host/files/access/limits.ts: WALK_LIMITS.entries',
        ],
        option: '`maxDepth`, `maxDirectories`, `maxEntries` for less',
        atLimit: 'The answer says that it is truncated.',
      },
      {
        what: 'Watches per connection',
        value: 'server/handlers/file-watches.ts: MAX_WATCHES',
        atLimit: 'Refused with `tooManyWatches`.',
      },
      {
        what: 'Directories of one watch',
        value: 'host/files/access/limits.ts: MAX_WATCHED_DIRECTORIES',
        atLimit: 'Refused with `ioFailed`.',
      },
      {
        what: 'Changed paths not reported yet, per watched path',
        value: 'contract/change-log.ts: MAX_PENDING_CHANGES',
        atLimit: 'The watch reports an overflow: check everything.',
      },
      {
        what: 'Searches of a connection at a time',
        value: 'server/handlers/files-handlers.ts: SEARCHES_AT_A_TIME',
        atLimit: 'Later ones wait.',
      },
      {
        what: 'Matches per page of a search',
        value: 'host/files/search/search-limits.ts: DEFAULT_MATCHES',
        option: '`maxMatches`, up to 10,000',
        atLimit: 'A cursor fetches the next page.',
      },
      {
        what: 'Size of a searched file',
        value: 'host/files/search/search-limits.ts: MAX_FILE_BYTES',
        atLimit: 'Larger files are skipped.',
      },
      {
        what: 'Files and directories copied at a time',
        value: ['copy/copy-tree.ts: PLACED_AT_A_TIME', 'copy/copy-tree.ts: DIRECTORIES_AT_A_TIME'],
        atLimit: 'The rest waits.',
      },
    ],
  },
  {
    title: 'Sandboxes and held changes',
    rows: [
      {
        what: 'Time to set up a sandbox',
        value: 'host/sandbox/launch/sandboxed-launch.ts: SETUP_LIMIT_MS',
        atLimit: 'The start fails with `sandboxUnavailable`.',
      },
      {
        what: 'Entries searched for hidden patterns',
        value: 'host/sandbox/plan/hidden-search.ts: MAX_ENTRIES',
        atLimit: 'The start fails with `sandboxUnavailable`.',
      },
      {
        what: 'Files that patterns hide',
        value: 'host/sandbox/plan/hidden-search.ts: MAX_MATCHES',
        atLimit: 'The start fails with `sandboxUnavailable`.',
      },
      {
        what: 'Bytes in a set of held changes',
        value: 'host/changes/set-limits.ts: DEFAULT_LIMITS.maxSetBytes',
        option: '`serve --changes-bytes`; `changesLimits.maxSetBytes`',
        atLimit: 'Its programs are killed; further starts fail with `changesFull`.',
      },
      {
        what: 'Files in a set of held changes',
        value: 'host/changes/set-limits.ts: DEFAULT_LIMITS.maxSetFiles',
        option: '`serve --changes-files`; `changesLimits.maxSetFiles`',
        atLimit: 'Its programs are killed; further starts fail with `changesFull`.',
      },
      {
        what: 'Bytes of all sets',
        value: 'host/changes/set-limits.ts: DEFAULT_LIMITS.maxTotalBytes',
        option: '`serve --changes-total-bytes`; `changesLimits.maxTotalBytes`',
        atLimit: 'Sets that grow are full, as above.',
      },
      {
        what: 'Files of all sets',
        value: 'host/changes/set-limits.ts: DEFAULT_LIMITS.maxTotalFiles',
        option: '`serve --changes-total-files`; `changesLimits.maxTotalFiles`',
        atLimit: 'Sets that grow are full, as above.',
      },
      {
        what: 'Depth of directories in a set',
        value: 'host/changes/set-limits.ts: MAX_DEPTH',
        atLimit: 'The set can only be discarded.',
      },
      {
        what: 'Changes per page of a list',
        value: 'host/changes/owned-set.ts: DEFAULT_PAGE',
        option: '`limit`, up to 10,000',
        atLimit: 'A cursor fetches the next page.',
      },
    ],
  },
  {
    title: 'Network, ports and HTTP',
    rows: [
      {
        what: 'Connections of a sandbox through the proxy',
        value: 'host/network/proxy.ts: MAX_CONNECTIONS',
        atLimit: 'Further ones are refused.',
      },
      {
        what: 'The same for all sandboxes of a server',
        value: 'host/network/proxy.ts: MAX_ALL_CONNECTIONS',
        atLimit: 'Further ones are refused.',
      },
      {
        what: 'Time a connection waits for somebody to allow its host',
        value: 'protocol/host-questions.ts: HOST_ANSWER_LIMIT_MS',
        atLimit: 'Denied.',
      },
      {
        what: 'Questions about hosts at a time, per session',
        value: 'host/network/host-answers.ts: MAX_QUESTIONS',
        atLimit: 'Further hosts are denied.',
      },
      {
        what: 'Hosts allowed for good, per session',
        value: 'host/network/host-answers.ts: MAX_REMEMBERED',
        atLimit: 'The one allowed first is asked about again.',
      },
      {
        what: 'Listed ports',
        value: 'host/ports/visible-ports.ts: MAX_PORTS',
        atLimit: 'The highest are left out.',
      },
      {
        what: 'Watches of ports per connection',
        value: 'server/ports/port-watches.ts: MAX_WATCHES',
        atLimit: 'Refused with `tooManyWatches`.',
      },
      {
        what: 'Streams to ports per session',
        value: 'server/ports/session-streams.ts: MAX_STREAMS',
        atLimit: 'Refused with `tooManyStreams`.',
      },
      {
        what: 'Streams to ports of a server',
        value: 'server/ports/session-streams.ts: MAX_SERVER_STREAMS',
        atLimit: 'Refused with `tooManyStreams`.',
      },
      {
        what: 'In flight per stream and direction, always',
        value: 'rpc/byte-stream/byte-stream.ts: STREAM_WINDOW_BYTES',
        atLimit: 'The sender waits.',
      },
      {
        what: 'The same on a fast, distant connection',
        value: 'rpc/byte-stream/byte-stream.ts: MAX_STREAM_WINDOW_BYTES',
        atLimit: 'The sender waits.',
      },
      {
        what: 'Body of an HTTP answer in one piece',
        value: 'server/handlers/http-handlers.ts: MAX_BUFFERED_BODY_BYTES',
        atLimit: 'Fails with `httpFailed`; stream it instead.',
      },
      {
        what: 'Such bodies per connection, until they are read',
        value: 'server/handlers/http-handlers.ts: MAX_GATHERED_BYTES',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'Streamed bodies per connection',
        value: 'server/handlers/http-handlers.ts: MAX_STREAMS',
        atLimit: 'Refused with `overloaded`.',
      },
      {
        what: 'HTTP redirects followed',
        value: 'host/http/http-request.ts: MAX_REDIRECTS',
        atLimit: 'Fails with `httpFailed`.',
      },
    ],
  },
  {
    title: 'Durable servers',
    rows: [
      {
        what: 'Deaths of a server within a minute',
        value: 'keeper/restarts.ts: MAX_DEATHS',
        atLimit: 'It is not started again; everything ends.',
      },
      {
        what: 'Deaths in a row before it is ready',
        value: 'keeper/restarts.ts: MAX_FAILED_STARTS',
        atLimit: 'It is not started again; everything ends.',
      },
      {
        what: 'Time for a new version to get ready',
        value: 'keeper/succession.ts: PREPARATION_LIMIT_MS',
        atLimit: 'The upgrade fails with `upgradeRefused`, and the old server continues.',
      },
      {
        what: 'Time an upgrade waits for clients that are connecting',
        value: 'server/durable/upgrades.ts: GREETING_LIMIT_MS',
        atLimit: 'They are cut off, and connect to the new server.',
      },
      {
        what: 'Time an upgrade waits for requests in progress',
        value: 'server/durable/upgrades.ts: REST_LIMIT_MS',
        atLimit: 'Their connections are cut, and resume with the new server.',
      },
      {
        what: 'Output per process kept for the next server',
        value: 'spool/spool.ts: PASSING_BYTES',
        atLimit: 'The oldest is dropped, with a count.',
      },
    ],
  },
];
