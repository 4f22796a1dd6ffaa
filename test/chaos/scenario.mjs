import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dialWebSocket, ExecClient, startProcess } from '../../dist/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { jobs, MARK_NAME } from './jobs.mjs';
import { pidsWithMark, SESSION_TTL_SECONDS, settles } from './subject.mjs';

const victim = fileURLToPath(new URL('./victim.mjs', import.meta.url));
/** Silence is noticed within a second or so: faster than a lease ends. */
const LIVENESS_TICK_MS = 200;
/** A handshake that meets silence is given up as soon; the usual ten seconds are longer than a lease is here. */
const HANDSHAKE_LIMIT_MS = 2_000;
const HANDSHAKE_LIMITS = { connectTimeoutMs: HANDSHAKE_LIMIT_MS, initializeTimeoutMs: HANDSHAKE_LIMIT_MS };
const CONNECT_ATTEMPTS = 5;
/** Many times what the slowest scenario needs on a busy machine. */
const SCENARIO_LIMIT_MS = 60_000;
/** A killed tree is gone long before this. */
const GONE_LIMIT_MS = 10_000;

/** Carries a plan out. Resolves to a check that waits for what only the end of a lease cleans up. */
export async function play(plan, subject) {
  const proxy = await FaultProxy.to(subject.url);
  const limits = { livenessTickMs: LIVENESS_TICK_MS, ...HANDSHAKE_LIMITS };
  const dial = () => dialWebSocket(proxy.url, limits);
  try {
    return await playOn({ url: proxy.url, dial, proxy, ttlSeconds: SESSION_TTL_SECONDS }, plan, subject);
  } finally {
    await proxy.close();
  }
}

/** The same over any line. `url`: for clients that are going to be killed. */
export async function playOn(line, plan, subject) {
  const mark = `chaos-${process.pid}-${plan.seed}-`;
  let timer;
  const late = new Promise((_, reject) => {
    const error = new Error(`not over after ${SCENARIO_LIMIT_MS} ms`);
    timer = setTimeout(reject, SCENARIO_LIMIT_MS, error);
  });
  try {
    const scenario = plan.ending === 'clientKilled' ? killClient : runJobs;
    await Promise.race([scenario({ plan, subject, line, mark }), late]);
    if (plan.ending === 'closed') await nothingLeft(mark, GONE_LIMIT_MS);
  } finally {
    clearTimeout(timer);
  }
  return () => nothingLeft(mark, line.ttlSeconds * 1000 + GONE_LIMIT_MS);
}

/** Runs all jobs beside each other over one connection that suffers. */
async function runJobs({ plan, subject, line, mark }) {
  const { proxy } = line;
  const client = await openClient(line.dial);
  const sandbox = subject.sandbox?.(plan.around);
  const start = (spec) => startProcess(client, { ...spec, sandbox, env: { [MARK_NAME]: mark } });
  const connect = () => openClient(line.dial);
  const { folder, sites } = subject;
  const over = new AbortController();
  const faults = plan.faults.map((fault) => strike({ fault, proxy, subject, over: over.signal }));
  try {
    await Promise.all(
      plan.jobs.map((job) => labelled(job, jobs[job.kind]({ job, start, client, connect, folder, sites }))),
    );
    if (plan.ending === 'abandoned') await leaveBehind(start, proxy);
  } finally {
    over.abort();
    await Promise.all(faults);
    await client.close();
  }
}

/** Clients repair later losses only; the first connection may meet a server others hold frozen for too long. */
async function openClient(dial) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ExecClient.connect({ dial, resume: true, ...HANDSHAKE_LIMITS });
    } catch (error) {
      if (attempt === CONNECT_ATTEMPTS) throw error;
    }
  }
}

/** The client vanishes while a tree and a flood of output run. */
async function leaveBehind(start, proxy) {
  await start({ argv: ['sh', '-c', 'sleep 1000 & setsid sleep 1000 & wait'] });
  await start({ argv: ['yes'] });
  await proxy.close();
}

/** A client in a process of its own is killed, whatever it was doing. */
async function killClient({ plan, subject, line, mark }) {
  const { proxy } = line;
  const child = spawn(process.execPath, [victim, line.url, mark], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const over = new AbortController();
  const faults = plan.faults.map((fault) => strike({ fault, proxy, subject, over: over.signal }));
  await Promise.race([pause(plan.killAfterMs), exit]);
  if (child.exitCode !== null) throw new Error('the client ended by itself');
  child.kill('SIGKILL');
  await exit;
  over.abort();
  await Promise.all(faults);
}

async function strike({ fault, proxy, subject, over }) {
  const ended = over.aborted ? Promise.resolve() : once(over, 'abort');
  const due = fault.afterMs === undefined ? proxy.afterBytes(fault.afterBytes) : pause(fault.afterMs);
  await Promise.race([due, ended]);
  if (over.aborted) return;
  await FAULTS[fault.kind]({ proxy, subject, forMs: fault.forMs });
}

const FAULTS = {
  cut: ({ proxy }) => proxy.cut(),
  stallToClient: ({ proxy, forMs }) => proxy.stall('toClient', forMs),
  stallToServer: ({ proxy, forMs }) => proxy.stall('toServer', forMs),
  silentToClient: ({ proxy }) => proxy.silenceToClient(),
  silentToServer: ({ proxy }) => proxy.silenceToServer(),
  refuse: ({ proxy, forMs }) => proxy.refuse(forMs),
  freezeServer: ({ subject, forMs }) => subject.freeze(forMs),
  killServer: ({ subject }) => subject.killServer(),
  freezeKeeper: ({ subject, forMs }) => subject.freezeKeeper(forMs),
  upgrade: ({ subject }) => subject.upgrade(),
  killNode: ({ subject, forMs }) => subject.killNode(forMs),
  stopNode: ({ subject, forMs }) => subject.stopNode(forMs),
  killGateway: ({ subject }) => subject.killGateway(),
  stopGateway: ({ subject, forMs }) => subject.stopGateway(forMs),
};

async function nothingLeft(mark, limitMs) {
  await settles('processes are left', limitMs, () => {
    const pids = pidsWithMark(mark);
    return pids.length === 0 ? undefined : pids.join(' ');
  });
}

/** Says which job a failure belongs to. */
async function labelled(job, promise) {
  try {
    await promise;
  } catch (error) {
    throw new Error(`${job.kind}: ${/** @type {Error} */ (error).message}`, { cause: error });
  }
}
