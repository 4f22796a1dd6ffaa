import { RemoteEnvironment } from '../../client/index.js';
import type { Environment, ProcessSpec } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { FAR_MS, medianOf, type Probe, roundTripMs } from './diagnosis.js';

const REPEATS = 5;
const PROBE_TEXT = 'execwire';

/** The probes that work on any machine, local or remote. */
export async function machineProbes(environment: Environment, prefix = ''): Promise<Probe[]> {
  const shell = (await environment.info()).shell.path;
  // Behind a long way each measurement costs one, and the way makes up most of it.
  let repeats = REPEATS;
  const wire: Probe = {
    layer: `${prefix}wire`,
    slowMs: 250,
    slowHint: 'Every call waits this long for its answer: look at the network, or at a proxy on the way.',
    measure: async () => {
      const ms = await roundTripMs(REPEATS, () => askStatus(environment));
      if (ms >= FAR_MS) repeats = 1;
      return ms;
    },
  };
  const here: Probe[] = [
    {
      layer: `${prefix}spawn`,
      slowMs: 100,
      slowHint: 'Starting a program takes long: the machine is busy, or something inspects every start.',
      measure: () => medianOf(repeats, () => run(environment, { argv: ['true'] })),
    },
    {
      layer: `${prefix}terminal`,
      slowMs: 200,
      slowHint: 'Opening a terminal takes long: the machine is busy, or short of terminals.',
      measure: () =>
        medianOf(repeats, () => expectText(environment, { argv: ['echo', PROBE_TEXT], tty: true })),
    },
    {
      layer: `${prefix}shell`,
      slowMs: 200,
      slowHint: `${shell} takes long even without its profile.`,
      measure: () => medianOf(repeats, () => run(environment, { argv: [shell, '-c', ':'] })),
    },
    {
      layer: `${prefix}login shell`,
      slowMs: 500,
      slowHint: `The profile of ${shell} takes long; everything run through a login shell pays for it.`,
      // Once: a profile may take seconds, and that alone does not make it stuck.
      measure: () => run(environment, { argv: [shell, '-lc', ':'] }),
    },
  ];
  return environment instanceof RemoteEnvironment ? [wire, ...here] : here;
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
    throw new ExecError('ioFailed', 'The terminal showed something else than what was written to it.');
  }
}
