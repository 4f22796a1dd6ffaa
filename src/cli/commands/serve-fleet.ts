import { hostname } from 'node:os';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { wholeNumber } from '../options/listen-options.js';
import { parseDuration } from '../options/option-values.js';
import { sandboxSupport } from '../../host/index.js';
import { version } from '../../host/machine-info.js';
import type { FleetMember } from '../../fleet/index.js';
import type { ExecServer, ServerLog } from '../../server/index.js';

export interface FleetFlags {
  readonly fleet?: string;
  readonly name?: string;
  readonly label: Readonly<Record<string, string>>;
  readonly jobSlots: number;
  readonly jobLease?: number;
  readonly insecure?: boolean;
}

export function addFleetOptions(command: Command): Command {
  return command
    .optionsGroup('Fleet:')
    .option('--fleet <where>', 'join a fleet: nats://HOST:PORT, or a settings file of `execwire fleet init`')
    .option(
      '--name <name>',
      'with --fleet: the name of this machine there (default: the one in the settings, or the host name)',
    )
    .option('--label <key=value>', 'with --fleet: a label for selectors; may be repeated', collectLabel, {})
    .option('--job-slots <n>', 'with --fleet: take jobs, and run this many at a time', wholeNumber, 0)
    .option(
      '--job-lease <time>',
      'with --job-slots: once this machine has been silent for this long, its jobs may run elsewhere (default: 1m)',
      parseDuration,
    )
    .optionsGroup('');
}

/** Files that give access to the fleet, to be hidden from confined programs. */
export function fleetFiles({ fleet }: FleetFlags): string[] {
  return fleet === undefined || fleet.includes('://') ? [] : [fleet];
}

/** This machine in a fleet, or in none. */
export interface FleetPresence {
  /** The URL under which the machine is found. */
  readonly urls: readonly string[];
  readonly close: () => Promise<void>;
  /** Takes no more jobs, and ends those that run here. */
  readonly endJobs: () => Promise<void>;
}

/** Joins the fleet, if one is given. */
export async function serveFleet(
  flags: FleetFlags,
  { server, log, lost }: { server: ExecServer; log: ServerLog; lost: (why: string) => void },
): Promise<FleetPresence> {
  if (flags.fleet === undefined)
    return { urls: [], close: async () => undefined, endJobs: async () => undefined };
  const { FleetMember, nameFrom, readFleetSettings } = await import('../../fleet/index.js');
  const { level } = await sandboxSupport();
  const settings = readFleetSettings(flags.fleet);
  const member: FleetMember = await FleetMember.join(settings, {
    name: flags.name ?? settings.identity ?? nameFrom(hostname()),
    labels: flags.label,
    server,
    version,
    sandbox: level,
    insecure: flags.insecure === true,
    jobSlots: flags.jobSlots,
    ...(flags.jobLease === undefined ? {} : { jobLeaseMs: flags.jobLease }),
    log,
    // A machine that nobody can reach is of no use to its supervisor, which may start it again.
    onLost: (reason) => {
      process.exitCode = 1;
      lost(reason);
    },
  });
  if (flags.insecure) log.warn({}, 'anyone who can reach the NATS servers may run programs on this machine');
  log.info({ name: member.name }, 'joined the fleet');
  return { urls: [`fleet:${member.name}`], close: () => member.close(), endJobs: () => member.endJobs() };
}

function collectLabel(text: string, previous: Readonly<Record<string, string>>): Record<string, string> {
  const [, key, value = ''] = /^([A-Za-z0-9_.-]{1,64})(?:=([^,&|]{0,128}))?$/.exec(text) ?? [];
  if (key === undefined || key === 'name')
    throw new InvalidArgumentError('Use KEY=VALUE without commas, "&" or "|"; the key "name" is taken.');
  return { ...previous, [key]: value };
}
