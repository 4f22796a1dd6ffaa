/** What other tools call the options of ours, and what to type instead. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  '--workdir': 'Use -w DIRECTORY or --cwd DIRECTORY.',
  '--working-dir': 'Use -w DIRECTORY or --cwd DIRECTORY.',
  '--dir': 'Use -w DIRECTORY or --cwd DIRECTORY.',
  '--directory': 'Use -w DIRECTORY or --cwd DIRECTORY.',
  '--chdir': 'Use -w DIRECTORY or --cwd DIRECTORY.',
  '-C': 'Use -w DIRECTORY or --cwd DIRECTORY.',
  '-d': 'Use --detach.',
  '--background': 'Use --detach.',
  '--volume':
    'There is nothing to mount: a program sees the files of its machine. To send some there, use: execwire cp',
  '--interactive': 'Use -i, or nothing: stdin is always forwarded.',
  '--env-file': 'Use --env NAME=VALUE, once for each variable.',
  '--rm': 'Leave it out: nothing stays behind when a program ends.',
  '--name': 'Use -e to choose a machine, or `shell --keep NAME` for a shell that stays.',
  '-c': 'For a shell command, use: execwire run -- sh -c COMMAND',
  '-p': 'The port is part of the address: -e ws://HOST:PORT',
  '--port': 'The port is part of the address: -e ws://HOST:PORT, or --listen ws://IP:PORT for a server.',
  '-H': 'Use -e ws://HOST:PORT.',
  '--host': 'Use -e ws://HOST:PORT, or --listen ws://IP:PORT for a server.',
  '--url': 'Use -e URL.',
  '--token': 'Use --token-file FILE: other users of this machine can read command lines.',
  '-v': 'Use --log-level debug.',
  '--verbose': 'Use --log-level debug.',
  '--recursive': 'Use -r, or nothing: directories are always copied with everything in them.',
  '--tls': 'Use --tls-cert FILE and --tls-key FILE.',
};

/** The parser speaks of `command-argument value 'x' … for argument 'port'`. */
export function reworded(complaint: string): string {
  return complaint.replace(
    /^error: command-argument value ('.*') is invalid for argument '([^']+)'\./s,
    'error: $1 cannot be used as $2.',
  );
}

/** Adds the right option to a complaint about a wrong one. */
export function withHint(complaint: string): string {
  const [, option] = /^error: unknown option '([^'\s=]+)/.exec(complaint) ?? [];
  const hint = option === undefined ? undefined : OTHER_NAMES[option];
  return withLine(complaint, hint);
}

/** Adds what to type instead to a complaint about a command that does not exist. */
export function withCommandHint(complaint: string): string {
  const isUnknown = complaint.startsWith('error: unknown command');
  return withLine(
    complaint,
    isUnknown
      ? 'To run a program, use: execwire run -- PROGRAM; for a shell on a machine: execwire shell MACHINE'
      : undefined,
  );
}

function withLine(complaint: string, hint: string | undefined): string {
  return hint === undefined ? complaint : `${complaint.trimEnd()}\n${hint}\n`;
}
