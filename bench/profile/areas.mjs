/** Self time below this share of the whole is put together as one row. */
const WORTH_A_ROW = 0.01;
export const OTHERS = 'all others';

/** V8 calls this idle, although libuv also reads in it. */
export const POLL = 'poll of libuv';
const NATIVE = 'native code of Node and V8';

/** Functions whose time says more than the module they are in. */
/** @type {[RegExp, string][]} */
const FUNCTIONS = [
  [/^\(idle\)$/, POLL],
  [/^\(program\)$/, NATIVE],
  [/^\(garbage collector\)$/, 'garbage collector'],
  [/^(writev|writeBuffer|write(Utf8|Latin1|Ascii|Ucs2)String)$/, 'write to sockets and pipes, in the kernel'],
  [/^(Module\._extensions\.\.node|dlopen)$/, 'loading a native library (koffi)'],
  [/^(Script|runInThisContext|compileFunctionForCJSLoader)$/, 'taking up the code of our chunks'],
];
/** Modules of Node by what they are for; the first that fits counts. */
/** @type {[RegExp, string][]} */
const NODE = [
  [/^internal\/(streams|stream_base|webstreams|net)|^(net|tty|stream)/, 'Node: streams and sockets'],
  [/^internal\/(process\/(task|promises)|timers|async|event)|^(timers|events)/, 'Node: ticks and events'],
  [/^internal\/(modules|bootstrap|vm|main|process\/pre_execution)|^(vm|module)/, 'Node: loading its modules'],
  [/^internal\/fs|^fs/, 'Node: files'],
  [/^internal\/(buffer|encoding)|^(buffer|string_decoder)/, 'Node: buffers and text'],
  [/^internal\/child_process|^child_process/, 'Node: child_process'],
];

/**
 * Self time by area and by function. `profile` is what `node --cpu-prof` writes, `originOf` says where a function was
 * written, and of it counts what lies in one of the windows, in microseconds of the profile's clock. Returns
 * both, the largest first.
 * @returns {{ areas: { area: string, ms: number }[], functions: { name: string, ms: number }[] }}
 */
export function analyse(profile, { originOf, windows = [[0, Number.POSITIVE_INFINITY]] }) {
  const areas = areasOfNodes(profile.nodes, originOf);
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byArea = new Map();
  const byFunction = new Map();
  for (const [id, ms] of selfTimes(profile, windows)) {
    const area = areas.get(id);
    if (!area) continue;
    add(byArea, area, ms);
    add(byFunction, functionText(frames.get(id), originOf), ms);
  }
  return {
    areas: largest(byArea).map(([area, ms]) => ({ area, ms })),
    functions: largest(byFunction).map(([name, ms]) => ({ name, ms })),
  };
}

/**
 * @param {Map<string, number>} sums
 * @returns {[string, number][]}
 */
function largest(sums) {
  return [...sums].sort(([, a], [, b]) => b - a);
}

function add(sums, key, ms) {
  sums.set(key, (sums.get(key) ?? 0) + ms);
}

/** Milliseconds by node of the profile. */
function selfTimes({ samples, timeDeltas, startTime }, windows) {
  const spent = new Map();
  let clock = startTime;
  for (const [index, id] of samples.entries()) {
    const begun = clock;
    clock += timeDeltas[index];
    // A sample stands for the time since the one before it.
    for (const [from, to] of windows) {
      const within = Math.min(clock, to) - Math.max(begun, from);
      if (within > 0) add(spent, id, within / 1000);
    }
  }
  return spent;
}

/** A function and the module it is in, the way to that left out. */
function functionText(frame, originOf) {
  const { functionName, url } = frame;
  if (url === '') return functionName || 'top level';
  const { path, name } = url.startsWith('node:') ? { path: url, name: functionName } : originOf(frame);
  return `${functionName && name ? name : 'top level'} (${path.replace(/^.*\/(dist|node_modules)\//, '').replace(/\.c?js$/, '')})`;
}

/** Puts what is hardly worth a row into one, the last. */
export function worthRows(rows) {
  const total = rows.reduce((sum, { ms }) => sum + ms, 0);
  const small = rows.filter(({ ms }) => ms < total * WORTH_A_ROW);
  if (small.length < 2) return rows;
  const rest = { area: OTHERS, ms: small.reduce((sum, { ms }) => sum + ms, 0) };
  return [...rows.filter((row) => !small.includes(row)), rest];
}

function areasOfNodes(nodes, originOf) {
  const areas = new Map();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const visit = (node, callerArea) => {
    const area = areaOf(node.callFrame, callerArea, originOf);
    areas.set(node.id, area);
    for (const child of node.children ?? []) visit(byId.get(child), area);
  };
  if (nodes.length > 0) visit(nodes[0], null);
  return areas;
}

function areaOf(frame, callerArea, originOf) {
  const { functionName, url } = frame;
  if (functionName === '(root)') return null;
  const known = FUNCTIONS.find(([pattern]) => pattern.test(functionName))?.[1];
  if (known) return known;
  // Other native functions count as their caller's.
  if (url === '') return callerArea ?? NATIVE;
  if (url.startsWith('node:')) return nodeArea(url.slice('node:'.length));
  return moduleArea(originOf(frame).path);
}

function nodeArea(path) {
  return NODE.find(([pattern]) => pattern.test(path))?.[1] ?? 'Node: others';
}

function moduleArea(path) {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (library) return library;
  const folder = /\/dist\/([^/]+)\/[^/]/.exec(path)?.[1];
  if (folder === 'bin' || folder === undefined) return 'our loader and chunks';
  // Calls through koffi leave no trace of their own.
  return folder === 'host' ? 'our host, and the C functions it calls' : `our ${folder}`;
}
