import type { Command, Option } from 'commander';

/** Shells a script can be made for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Commands whose arguments name environments. */
const TAKES_IDS: readonly string[] = ['connect', 'env info', 'env check'];

/** Commands whose arguments are a program and its own arguments. */
const TAKES_PROGRAM: readonly string[] = ['run'];

/** A completion script for the whole command line as it is now. */
export function completionScript(shell: (typeof SHELLS)[number], program: Command): string {
  switch (shell) {
    case 'bash':
      return bashScript(program);
    case 'zsh':
      // zsh runs completion scripts of bash by itself once asked to.
      return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`;
    case 'fish':
      return fishScript(program);
  }
}

/** All commands with their path below the program: `run`, `env`, `env list`. */
function allCommands(parent: Command, prefix = ''): { path: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const path = `${prefix}${command.name()}`;
    return [{ path, command }, ...allCommands(command, `${path} `)];
  });
}

function optionNames(command: Command): string[] {
  return [...command.options, { short: '-h', long: '--help' }].flatMap(({ short, long }) =>
    [short, long].filter((name) => name != null),
  );
}

function wordsOf(command: Command): string {
  const words = command.name() === 'completion' ? SHELLS : command.commands.map((each) => each.name());
  return [...words, ...optionNames(command)].join(' ');
}

function bashScript(program: Command): string {
  const commands = allCommands(program);
  const parents = commands.filter(({ command }) => command.commands.length > 0).map(({ path }) => path);
  const cases = commands.map(({ path, command }) => `    '${path}') words='${wordsOf(command)}' ;;`);
  return `_execwire() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= words= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      -e|--environment) ((index++)) ;;
      -*) ;;
      *) case "$command" in
           '') command=\${COMP_WORDS[index]} ;;
${parents.map((path) => `           '${path}') command="${path} \${COMP_WORDS[index]}" ;;`).join('\n')}
           ${TAKES_PROGRAM.map((path) => `'${path}'`).join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
         esac ;;
    esac
  done
  case "$previous" in
    -e|--environment) COMPREPLY=($(compgen -W "$(execwire completion ids 2>/dev/null)" -- "$current")); return ;;
    *-file|--tls-*|--cwd) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$command" in
    '') words='${wordsOf(program)}' ;;
${cases.join('\n')}
  esac
  case "$current,$command" in
    -*) ;;
    ${TAKES_IDS.map((path) => `*,'${path}'`).join('|')}) words="$words $(execwire completion ids 2>/dev/null)" ;;
    ${TAKES_PROGRAM.map((path) => `*,'${path}'`).join('|')}) COMPREPLY=($(compgen -c -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -F _execwire execwire
`;
}

function fishScript(program: Command): string {
  const lines = ['complete -c execwire -f'];
  for (const command of program.commands) {
    lines.push(fishWord({ when: '__fish_use_subcommand', word: command.name(), text: command.summary() }));
  }
  for (const { path, command } of allCommands(program)) {
    const when = path
      .split(' ')
      .map((name) => `__fish_seen_subcommand_from ${name}`)
      .join('; and ');
    for (const child of command.commands) {
      lines.push(fishWord({ when, word: child.name(), text: child.description() }));
    }
    for (const option of command.options) lines.push(fishOption(when, option));
    if (TAKES_IDS.includes(path))
      lines.push(`complete -c execwire -n '${when}' -a '(execwire completion ids)'`);
  }
  return `${lines.join('\n')}\n`;
}

function fishWord({ when, word, text }: { when: string; word: string; text: string }): string {
  return `complete -c execwire -n '${when}' -a '${word}' -d '${quoted(text)}'`;
}

function fishOption(when: string, option: Option): string {
  const short = option.short ? ` -s ${option.short.slice(1)}` : '';
  const long = option.long ? ` -l ${option.long.slice(2)}` : '';
  const value =
    option.long === '--environment' ? " -x -a '(execwire completion ids)'" : option.required ? ' -r -F' : '';
  return `complete -c execwire -n '${when}'${short}${long}${value} -d '${quoted(option.description)}'`;
}

function quoted(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replaceAll(/['\\]/g, '\\$&');
}
