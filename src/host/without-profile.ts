import type { Sandbox } from '../protocol/index.js';
import type { LocalProcessSpec } from './local-process-spec.js';
import type { ConfinedSpec } from './sandbox/index.js';
import type { ShellSnapshots, SnapshotRequest } from './shell-snapshot/index.js';
import type { Child, ChildSink } from './spawn/index.js';

/** A login shell that may start from the saved state of its profile. */
export interface ProfileRequest extends SnapshotRequest {
  readonly sandbox: Sandbox | null;
  /** Variables requested by name: no profile changes them. */
  readonly asked: Readonly<Record<string, string>>;
}

/** Runs the profile of a shell. */
export type SpawnProfile = (spec: ConfinedSpec, sandbox: Sandbox | null, sink: ChildSink) => Promise<Child>;

/** See `ProcessTable.withoutProfile`. */
export async function withoutProfile(
  spec: LocalProcessSpec,
  request: ProfileRequest,
  { snapshots, spawn }: { snapshots: ShellSnapshots; spawn: SpawnProfile },
): Promise<LocalProcessSpec> {
  const sandbox = withoutManagedNetwork(spec, request.sandbox);
  // Running the profile would be a change of its own.
  if (sandbox === undefined || sandbox?.changes) return spec;
  const snapshot = await snapshots.get(spec, request, (inner, sink) => spawn(inner, sandbox, sink));
  const given = snapshot?.give(spec.env, request.asked);
  if (!given) return spec;
  const [shell = '', , ...rest] = spec.argv;
  const askedTemporary = spec.env.TMPDIR ?? null;
  return { ...spec, ...given, argv: [shell, '-c', ...rest], shownArgv: spec.argv, askedTemporary };
}

/** A profile runs without the network that a proxy manages. Undefined: nothing would keep it from the whole network. */
function withoutManagedNetwork(
  { network }: LocalProcessSpec,
  sandbox: Sandbox | null,
): Sandbox | null | undefined {
  if (!network && !sandbox?.networkRules) return sandbox;
  const { networkRules: _, ...rest } = sandbox ?? {};
  if (sandbox?.permissions.type !== 'managed') return undefined;
  return { ...rest, permissions: { ...sandbox.permissions, network: 'restricted' } };
}
