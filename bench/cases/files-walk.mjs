import { sourceTree, uri } from '../lib/files.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

const ENTRIES = 50_000;
const OPTIONS = { maxDepth: 64, maxDirectories: 10_000, maxEntries: ENTRIES, followDirectorySymlinks: false };

export const filesWalk = {
  name: 'files-walk',
  title: 'Walking a tree',
  about: '`fs/walk` over 50,000 entries, a thousand to a directory, as much of it as one answer holds',
  metrics: latencyMetrics,
  headline: 'p50',
  run: ({ servers, plan, scratch }) =>
    withServers(servers, async (opened) => {
      const path = uri(sourceTree(scratch, ENTRIES));
      return await measureLatency(
        opened.map((server) => walker(server, path)),
        plan.filesWalk,
      );
    }),
};

function walker({ name, client }, path) {
  const walkOnce = async () => {
    const begun = performance.now();
    const { entries } = await client.request('fs/walk', { path, options: OPTIONS });
    const ms = performance.now() - begun;
    if (entries.length < ENTRIES / 2) throw new Error(`only ${entries.length} entries were listed`);
    return ms;
  };
  return { name, sample: (limits) => repeat(limits, walkOnce) };
}
