import { LocalEnvironment } from '../../environment/index.js';
import { loadEnvironments } from '../../environment/providers.js';
import { type Diagnosis, diagnose, type Probe } from './diagnosis.js';
import { checkEnvironment } from '../commands/env-check.js';
import { environmentRows } from '../commands/env-list.js';
import { describeHost, examineChanges, examineSandbox, serverProbe } from './local-probes.js';
import { machineProbes } from './machine-probes.js';
import { paint } from '../terminal/paint.js';
import { formatJson, formatTable } from '../terminal/table.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

const COLOURS = { ok: 'green', slow: 'yellow', broken: 'red', absent: 'dim' } as const;

/** Checks a machine, or the local one and all configured ones, and prints the findings. False if something is broken. */
export async function examine(flags: TargetFlags & { json?: boolean }): Promise<boolean> {
  const findings = flags.environment === undefined ? await examineAll() : await examineTarget(flags);
  process.stdout.write(flags.json ? formatJson(findings) : report(findings));
  return findings.every(({ verdict }) => verdict !== 'broken');
}

async function examineAll(): Promise<Diagnosis[]> {
  const environment = new LocalEnvironment();
  try {
    return [
      ...describeHost(),
      ...(await oneByOne(await machineProbes(environment))),
      await examineSandbox(),
      await examineChanges(),
      await diagnose(serverProbe()),
      ...(await configuredOnes()),
    ];
  } finally {
    await closeTarget(environment);
  }
}

async function examineTarget(flags: TargetFlags): Promise<Diagnosis[]> {
  let environment: Awaited<ReturnType<typeof openTarget>> | undefined;
  const connect = await diagnose({
    layer: 'connect',
    slowMs: 2_000,
    slowHint: 'Connecting is slow. Check the network, or the program that makes the connection.',
    measure: async () => {
      environment = await openTarget(flags);
    },
  });
  if (!environment) return [connect];
  try {
    return [connect, ...(await oneByOne(await machineProbes(environment)))];
  } finally {
    await closeTarget(environment);
  }
}

async function configuredOnes(): Promise<Diagnosis[]> {
  try {
    const others = environmentRows(loadEnvironments()).filter(({ kind }) => kind !== 'local');
    return await Promise.all(others.map(({ id }) => configuredOne(id)));
  } catch (error) {
    const hint = error instanceof Error ? error.message : String(error);
    return [{ layer: 'configuration', verdict: 'broken', ms: null, hint }];
  }
}

async function configuredOne(id: string): Promise<Diagnosis> {
  const { ready, roundTripMs, reason } = await checkEnvironment(id);
  return { layer: `environment ${id}`, verdict: ready ? 'ok' : 'broken', ms: roundTripMs, hint: reason };
}

/** One at a time: concurrent probes would affect each other's times. */
async function oneByOne(probes: readonly Probe[]): Promise<Diagnosis[]> {
  const findings: Diagnosis[] = [];
  for (const probe of probes) findings.push(await diagnose(probe));
  return findings;
}

function report(findings: readonly Diagnosis[]): string {
  const table = formatTable(
    ['LAYER', 'VERDICT', 'TIME', ''],
    findings.map(({ layer, verdict, ms, hint }) => [
      layer,
      verdict,
      ms === null ? '' : `${ms} ms`,
      hint ?? '',
    ]),
  );
  return table.replaceAll(/(?<= {2})(ok|slow|broken|absent)(?= {2}|$)/gm, (verdict) =>
    paint(verdict, COLOURS[verdict as keyof typeof COLOURS]),
  );
}
