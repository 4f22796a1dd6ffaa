import { RemoteEnvironment } from '../../client/index.js';
import type { Environment, ProcessSpec } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { FAR_MS, medianOf, type Probe, roundTripMs } from './diagnosis.js';

const REPEATS = 5;
const PROBE_TEXT = 'execwire';

/** The probes that work on any machine, local or remote. */
export async function machineProbes(environment: Environment, prefix = ''): Promise<Probe[]> {
  const shell = (await environment.info()).shell.path;
  // On a long line each measurement costs a round trip, and the line dominates the result.
  let repeats = REPEATS;
  const wire: Probe = {
    layer: `${prefix}wire`,
    slowMs: 250,
    slowHint: 'Every call waits this long for its answer. Check the network and any proxy in between.',
    measure: async () => {
      const ms = await roundTripMs(REPEATS, () => askStatus(environment));
      if (ms >= FAR_MS) repeats = 1;
      return ms;
    },
  };
  const probes: Probe[] = [
    {
      layer: `${prefix}spawn`,
      slowMs: 100,
      slowHint: 'Starting a program is slow: the machine is busy, or something inspects every start.',
      measure: () => medianOf(repeats, () => run(environment, { argv: ['true'] })),
    },
    {
      layer: `${prefix}terminal`,
      slowMs: 200,
      slowHint: 'Opening a terminal is slow: the machine is busy, or short of terminals.',
      measure: () =>
        medianOf(repeats, () => expectText(environment, { argv: ['echo', PROBE_TEXT], tty: true })),
    },
    {
      layer: `${prefix}shell`,
      slowMs: 200,
      slowHint: `${shell} is slow even without its profile.`,
      measure: () => medianOf(repeats, () => run(environment, { argv: [shell, '-c', ':'] })),
    },
    {
      layer: `${prefix}login shell`,
      slowMs: 500,
      slowHint: `The profile of ${shell} is slow, which delays everything run through a login shell.`,
      // Measured once: a profile may take seconds without being stuck.
      measure: () => run(environment, { argv: [shell, '-lc', ':'] }),
    },
  ];
  return environment instanceof RemoteEnvironment ? [wire, ...probes] : probes;
}

async function askStatus(environment: Environment): Promise<void> {
  if (environment instanceof RemoteEnvironment) await environment.client.call('environment/status', null);
}

async function run(environment: Environment, spec: ProcessSpec): Promise<void> {
  await using child = await environment.start(spec);
  const end = await child.wait();
  if (end.kind === 'contactLost') throw end.error;
  if (end.exitCode !== 0) {
    throw new ExecError('ioFailed', `${spec.argv[0] ?? ''} ended with exit code ${end.exitCode}.`);
  }
}

async function expectText(environment: Environment, spec: ProcessSpec): Promise<void> {
  await using child = await environment.start(spec);
  const text = await child.text();
  if (text.trim() !== PROBE_TEXT) {
    throw new ExecError('ioFailed', 'The terminal did not show what was written to it.');
  }
}
