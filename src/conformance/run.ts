import { randomUUID } from 'node:crypto';
import type { CaseContext, ConformanceCase } from './case.js';
import { conformanceCases } from './cases/index.js';
import { Difference } from './verdict.js';
import { Wire, type WireChannel } from './wire.js';

/** The result of one case. `differs`: answered differently. `fails`: not answered, or not reachable. */
export interface CaseReport {
  readonly name: string;
  readonly says: string;
  readonly outcome: 'ok' | 'differs' | 'fails';
  /** What was seen instead; undefined if the case is ok. */
  readonly seen?: string;
}

/** How to reach the server under test. */
export interface ConformanceTarget {
  /** Opens a new connection. */
  readonly dial: () => Promise<WireChannel>;
  /** Only cases whose name contains this. Default: all. */
  readonly only?: string | undefined;
  /** Whether a second connection reaches the same server. If not, cases that need one are skipped. */
  readonly reconnects: boolean;
}

/** The name of directories created here. Nothing else is ever removed. */
const DIRECTORY_NAME = /\/execwire-conformance-[0-9a-f-]{36}$/;

/** Runs all cases in sequence, each on its own connections, and reports each result as it is known. */
export async function runConformance(
  target: ConformanceTarget,
  onReport: (report: CaseReport) => void = () => undefined,
): Promise<CaseReport[]> {
  const directory = await makeDirectory(target);
  const reports: CaseReport[] = [];
  try {
    for (const each of conformanceCases.filter((candidate) => applies(candidate, target))) {
      const report = await examine(each, target, directory);
      reports.push(report);
      onReport(report);
    }
  } finally {
    await removeDirectory(target, directory);
  }
  return reports;
}

function applies({ name, reconnects }: ConformanceCase, target: ConformanceTarget): boolean {
  return name.includes(target.only ?? '') && (target.reconnects || !reconnects);
}

async function examine(
  { name, says, run }: ConformanceCase,
  target: ConformanceTarget,
  directory: string,
): Promise<CaseReport> {
  const wires: Wire[] = [];
  const open = async (): Promise<Wire> => {
    const wire = new Wire(await target.dial());
    wires.push(wire);
    return wire;
  };
  const context: CaseContext = { open, ready: () => openReady(open), directory };
  try {
    await run(context);
    return { name, says, outcome: 'ok' };
  } catch (error) {
    const outcome = error instanceof Difference ? 'differs' : 'fails';
    return { name, says, outcome, seen: error instanceof Error ? error.message : String(error) };
  } finally {
    for (const wire of wires) wire.close();
  }
}

async function openReady(open: () => Promise<Wire>): Promise<Wire> {
  const wire = await open();
  await wire.handshake();
  return wire;
}

/** Creates a new directory in the machine's temporary directory. */
async function makeDirectory(target: ConformanceTarget): Promise<string> {
  return await withWire(target, async (wire) => {
    const { tempDir } = await wire.call('environment/info');
    const base = typeof tempDir === 'string' ? tempDir.replace(/\/+$/, '') : 'file:///tmp';
    const directory = `${base}/execwire-conformance-${randomUUID()}`;
    await wire.call('fs/createDirectory', { path: directory, recursive: false });
    return directory;
  });
}

async function removeDirectory(target: ConformanceTarget, directory: string): Promise<void> {
  if (!DIRECTORY_NAME.test(directory)) return;
  // Ignore failures: the report matters more than the cleanup.
  await withWire(target, (wire) => wire.call('fs/remove', { path: directory })).catch(() => undefined);
}

async function withWire<Value>(
  target: ConformanceTarget,
  use: (wire: Wire) => Promise<Value>,
): Promise<Value> {
  const wire = new Wire(await target.dial());
  try {
    await wire.handshake();
    return await use(wire);
  } finally {
    wire.close();
  }
}
