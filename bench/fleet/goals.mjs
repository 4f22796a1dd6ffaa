/** What a fleet of a thousand machines on one computer should reach, by part of the report. */
const GOALS = [
  { part: 'discovery', key: 'listMs', atMost: 150, says: 'all machines are listed' },
  { part: 'discovery', key: 'registryMs', atMost: 60, says: 'the same, from the registry' },
  { part: 'discovery', key: 'unknownMs', atMost: 5, says: 'an unknown machine is refused' },
  { part: 'discovery', key: 'fanOut1000Ms', atMost: 3000, says: 'a session with `echo` on all of them' },
  { part: 'ways', of: 'otherNode', key: 'echoRatio', atMost: 2.2, says: 'echo on another node / direct' },
  { part: 'ways', of: 'gateway', key: 'echoRatio', atMost: 3, says: 'echo through the gateway / direct' },
  {
    part: 'ways',
    of: 'otherNode',
    key: 'outputRatio',
    atLeast: 0.4,
    says: 'output on another node / direct',
  },
  {
    part: 'ways',
    of: 'gateway',
    key: 'outputRatio',
    atLeast: 0.25,
    says: 'output through the gateway / direct',
  },
  { part: 'losses', key: 'killPauseMs', atMost: 250, says: '`kill -9` of a node: pause' },
  { part: 'losses', key: 'stopPauseMs', atMost: 3500, says: 'SIGSTOP of a node: pause' },
  { part: 'losses', key: 'thirdReturnsMs', atMost: 1000, says: 'its machines are on other nodes' },
  { part: 'gateways', key: 'stoppedGatewayRatio', atMost: 2, says: 'p99 beside a stopped gateway / before' },
  { part: 'idle', key: 'nodeMb', atMost: 40, says: 'a NATS node with idle machines, MB' },
  { part: 'idle', key: 'nodesCpuPercent', atMost: 10, says: 'all nodes, % of a core' },
  { part: 'leaders', key: 'jobsLost', atMost: 0, says: 'acknowledged jobs lost by ten kills of the leader' },
  { part: 'leaders', key: 'longestPauseMs', atMost: 15_000, says: 'longest pause while a leader is chosen' },
];

/** The goals whose part was measured. */
export function judge(report) {
  return GOALS.flatMap(({ part, of, key, atMost, atLeast, says }) => {
    const figures = of === undefined ? report[part] : report[part]?.[of];
    const reached = figures?.[key];
    if (reached === undefined) return [];
    const held = atMost === undefined ? reached >= (atLeast ?? 0) : reached <= atMost;
    return [{ goal: says, reached, limit: atMost ?? atLeast, held }];
  });
}
