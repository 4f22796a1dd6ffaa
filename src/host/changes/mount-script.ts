/**
 * What the shell does that mounts held directories: for each, open the directory below, mount the overlay, and wait until
 * we have checked what was opened. The descriptor and relative paths spare us the quoting of mount options, and tell
 * programs nothing about where changes are kept.
 */
const MOUNT_EACH = `
while [ $# -gt 0 ]; do
  exec 8<"$1"
  cd "$2"
  "$mount" -c --no-mtab -t overlay -o userxattr,lowerdir=/proc/self/fd/8,upperdir=upper,workdir=work overlay view
  echo mounted
  read -r go
  shift 2
done
exec 8<&-
`;

/**
 * Mounting again what is mounted changes nothing, except that the kernel looks up names anew. This way is for plain users:
 * it takes a process in the namespace that owns the mounts.
 */
const FORGET_EACH = 'for place; do "$mount" -c --no-mtab -o remount none "$place/view"; done';

/** Tells us that everything is mounted, and waits until we hold its namespaces. */
const WAIT = 'echo ready; read -r go';

/** The programs it takes. */
export interface MountTools {
  readonly unshare: string;
  readonly nsenter: string;
  readonly mount: string;
  readonly shell: string;
}

/** Who we are; null if root needs no user namespace. */
export type Rights = { readonly uid: number; readonly gid: number } | null;

/**
 * Makes namespaces in which the directories are mounted. A plain user is root in an outer user namespace, where overlays
 * can be mounted, and itself again in an inner one, which programs are started in.
 */
export function makeCommand(tools: MountTools, rights: Rights, pairs: readonly string[]): string[] {
  const apart = ['--mount', '--propagation', 'private', '--'];
  const outer = rights ? ['--user', '--map-root-user'] : [];
  const inner = rights
    ? `exec "${tools.unshare}" --user --map-user=${rights.uid} --map-group=${rights.gid} ${apart.join(' ')} ` +
      `"${tools.shell}" -ec '${WAIT}'`
    : WAIT;
  return [tools.unshare, ...outer, ...apart, ...shell(tools, `${MOUNT_EACH}${inner}`, pairs)];
}

/** Existing namespaces, and the one that owns their mounts; null for root. */
export interface MountNamespaces {
  readonly mount: string;
  readonly owner: string | null;
}

/** Mounts further directories in existing namespaces. */
export function extendCommand(
  tools: MountTools,
  namespaces: MountNamespaces,
  pairs: readonly string[],
): string[] {
  return [...enterCommand(tools, namespaces), ...shell(tools, `${MOUNT_EACH}${WAIT}`, pairs)];
}

/** Lets the kernel forget what it knows of names in mounted directories, given by where their layers are. */
export function forgetCommand(
  tools: MountTools,
  namespaces: MountNamespaces,
  places: readonly string[],
): string[] {
  return [...enterCommand(tools, namespaces), ...shell(tools, `; ${FORGET_EACH}`, places)];
}

/** We are root there as we are, and may not call `setgroups`. */
function enterCommand({ nsenter }: MountTools, { mount, owner }: MountNamespaces): string[] {
  const user = owner === null ? [] : ['--preserve-credentials', `--user=${owner}`];
  return [nsenter, ...user, `--mount=${mount}`, '--'];
}

function shell({ shell: program, mount }: MountTools, script: string, pairs: readonly string[]): string[] {
  return [program, '-ec', `mount=$1; shift${script}`, 'sh', mount, ...pairs];
}
