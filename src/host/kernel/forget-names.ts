import { openAnyLibc } from './libc.js';
import { linux } from './linux.js';

/**
 * Makes the kernel look up the names in a mounted file system anew, except for what is in use: it forgets them whenever a file
 * system is reconfigured. `mounted`: a descriptor of its topmost directory. Resolves to false if that is not possible here.
 * Takes a microsecond for each name, so it runs on the thread pool.
 */
export async function forgetNames(mounted: number): Promise<boolean> {
  const libc = openAnyLibc();
  if (libc === null) return false;
  const { fspick, fsconfig, close } = libc;
  const flags = linux.FSPICK_EMPTY_PATH | linux.FSPICK_CLOEXEC;
  const picked = fspick(linux.SYS_fspick, mounted, '', flags);
  if (picked < 0) return false;
  try {
    return await new Promise((resolve) =>
      fsconfig.async(
        linux.SYS_fsconfig,
        picked,
        linux.FSCONFIG_CMD_RECONFIGURE,
        null,
        null,
        0,
        (error, result) => resolve(!error && result === 0),
      ),
    );
  } catch {
    // Only so many calls run at a time.
    return false;
  } finally {
    close(picked);
  }
}
