import { ExecError } from '../../protocol/errors.js';

export type Nats = typeof import('@nats-io/transport-node');

/** The command that installs what fleets need. They are optional: most users have no fleet. */
const INSTALL_COMMAND = 'npm install @nats-io/transport-node @nats-io/jetstream';

/** Loads the NATS client, and says how to get it where it is missing. */
export async function loadNats(): Promise<Nats> {
  return await orSayHow(import('@nats-io/transport-node'));
}

export async function loadJetStream(): Promise<typeof import('@nats-io/jetstream')> {
  return await orSayHow(import('@nats-io/jetstream'));
}

async function orSayHow<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading;
  } catch (cause) {
    throw new ExecError('unsupported', `Fleets need the NATS client. Install it with: ${INSTALL_COMMAND}`, {
      cause,
    });
  }
}
