const OWN_WORDS = 'The same code in our own words; clients go by the code.';
const TERMINAL_END =
  'A program on a terminal that was killed ends with 128 + signal, as on pipes; the real server says 1.';
const TERMINAL_CWD =
  'A missing directory is refused; the real server quietly uses the home directory on terminals.';
const ODD_VARIABLE = 'A variable no program can read is refused instead of handed on as another one.';
const LOOPBACK =
  'Without network there is an empty one: sockets can be made and reach nobody, also not this machine.';

/**
 * Where our app server answers differently from the real one, case by case, and why. Everything else is the same.
 * Over and above this, our errors carry `data` with a stable code.
 */
export const differences: Readonly<Record<string, string>> = {
  'envelope: a member of params twice':
    'A message that says two things at once is broken, and dropped as such.',
  'command/exec: env with = in a name': ODD_VARIABLE,
  'command/exec: env with an empty name': ODD_VARIABLE,
  'command/exec: cwd missing, on a terminal': TERMINAL_CWD,
  'command/exec: cap: inside a character':
    'Only the cut character is lost; the real server garbles all of the text.',
  'terminal: ended by SIGTERM': TERMINAL_END,
  'terminal: ended by SIGKILL': TERMINAL_END,
  'terminal: terminate': TERMINAL_END,
  'terminal: closing the input is the end of file':
    'End of file is typed alone, without an empty line before it.',
  'terminal: input after closing it': TERMINAL_END,
  'sandbox: read only: no network': LOOPBACK,
  'sandbox: workspace: no network': LOOPBACK,
  'sandbox: a program that is missing':
    'A failed start is an error; the real server lets its helper crash, exit 101.',
  'process/spawn: cwd missing, on a terminal': TERMINAL_CWD,
  'process/spawn: kill on a terminal': TERMINAL_END,
  'environment/add: an empty id': OWN_WORDS,
  'environment/add: the id of this machine': OWN_WORDS,
  'environment/add: an empty URL': OWN_WORDS,
  'environment/add: the URL none': OWN_WORDS,
  'environment/add: a token with a line break': OWN_WORDS,
  'environment/add: a request id with a line break': OWN_WORDS,
  'environment/add: a token for another machine, in the clear': OWN_WORDS,
  'environment/add: a URL of another kind':
    'An address nobody can dial is refused when given, not when needed.',
  'environment/status: nobody': OWN_WORDS,
  'fs/readFile: a path with a NUL': OWN_WORDS,
  'fs/getMetadata: the time of creation': 'We tell it; this build of the real server says 0.',
  'fs/readDirectory: one with links and more':
    'Links that lead nowhere are listed; the real server hides them.',
  'fs/copy: a file onto itself': 'Refused; the real server empties the file and reports success.',
  'fs/watch: a file replaced twice': 'Every replacement is told; the real server goes deaf after the first.',
};
