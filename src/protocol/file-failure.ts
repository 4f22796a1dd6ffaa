const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not open it',
  EEXIST: 'it exists already',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a link that leads nowhere',
  EMFILE: 'this program has too many files open',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is no directory',
  EPERM: 'this user may not open it',
  EROFS: 'its file system is read-only',
};

/** Why a file that somebody named cannot be read, for people; undefined for errors that do not come from the system. */
export function whyUnreadable(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^E[A-Z\d]+$/.test(code) ? (REASONS[code] ?? code) : undefined;
}

/** Why a file that somebody named cannot be written. Unlike its directory, it need not exist. */
export function whyUnwritable(error: unknown): string | undefined {
  const why = whyUnreadable(error);
  return why === REASONS['ENOENT'] ? 'its directory does not exist' : why;
}
