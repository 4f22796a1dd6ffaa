const TLS = 'The network proxy does not open TLS.';
const STRICTER =
  'Everything writable is a policy too: such a process has devices and process numbers of its own.';
const EXACT = 'All of the state is kept, not what is exported alone.';

/**
 * Where our exec server answers differently from the real one, case by case, and why. Everything else that is played is the
 * same. `execwire conformance` names further ones, see `conformance-on-codex`.
 */
export const differences: Readonly<Record<string, string>> = {
  'capability: credentialMasking': TLS,
  'capability: credentialMaskingCustomProviders': 'As credentialMasking.',
  'capability: windowsMxc': 'Only of interest on Windows; absent says the same as false.',
  'network: enforced without a proxy': 'Refused; the real server runs the process with an open network.',
  'network: enforced without a proxy, under a policy':
    'Refused at once; the real server starts a helper that crashes, exit 101.',
  'network: a proxy to start, not enforced':
    'A proxy is always the only way out, so this is a sandbox. The real one can be passed by, and is open to all local users.',
  'network: a limited proxy': TLS,
  'network: masked credentials': TLS,
  'sandbox: temporary directories, named':
    'They are what `tmpdir` means; the real server goes by TMPDIR of the process alone.',
  'sandbox: no roots given':
    'The cwd is the root then, as for every client of ours; an empty list grants nothing.',
  'sandbox: no windowsSandboxLevel': 'Of no use here, so nobody has to name it.',
  'sandbox: the older sandbox of Linux': 'There is one sandbox; the real server crashes, exit 101.',
  'sandbox: only root writable': STRICTER,
  'snapshot: variables that are not exported': EXACT,
  'snapshot: umask': EXACT,
  'snapshot: line numbers': 'The command is run as it came, not behind lines of ours.',
  'snapshot: zsh': 'Only bash can be given a state without a file on disk: with others the profile runs.',
  'discovery: a directory that may not be seen': 'The same warnings in our own words and order.',
};

/** What the real server has and no request can show. */
export const absent: Readonly<Record<string, string>> = {
  '--linux-sandbox-pid-namespace': 'Confined processes always have process numbers of their own.',
  '--proxy-private-ips-via-upstream': 'Hosts are always dialled directly.',
};
