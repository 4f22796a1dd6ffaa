/** Supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Each script asks the program itself for completions and passes them to its shell. */
const ASK = 'execwire completion candidates --';

/**
 * bash splits words at colons, so we read whole words from the line. Everything up to the last colon must then be left
 * out of the completions.
 */
const BASH = String.raw`_execwire() {
  local line=${'$'}{COMP_LINE:0:COMP_POINT} fallback value text current colon=
  local -a words
  # Without -r: a backslash before a space keeps a word together.
  read -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=${'$'}{words[${'$'}{#words[@]}-1]}
  [[ $COMP_WORDBREAKS == *:* ]] && colon=${'$'}{current%"${'$'}{current##*:}"}
  COMPREPLY=()
  {
    IFS= read -r fallback
    while IFS=$'\t' read -r value text; do
      [[ $value == *[:/] ]] && compopt -o nospace
      COMPREPLY+=("$(printf %q "${'$'}{value#"$colon"}")")
    done
  } < <(${ASK} "${'$'}{words[@]:1}" 2>/dev/null)
  case $fallback in
    files) [[ ${'$'}{#COMPREPLY[@]} -eq 0 ]] && compopt -o filenames ;;
    programs) ;;
    *) return ;;
  esac
  while IFS= read -r value; do
    COMPREPLY+=("${'$'}{value#"$colon"}")
  done < <(if [[ $fallback == files ]]; then compgen -f -- "$current"; else compgen -c -- "$current"; fi)
}
complete -F _execwire execwire
`;

const ZSH = String.raw`_execwire() {
  local fallback line value
  local -a lines values texts open
  lines=("${'$'}{(@f)$(${ASK} "${'$'}{(@Q)words[2,CURRENT-1]}" "${'$'}{(Q)PREFIX}" 2>/dev/null)}")
  fallback=$lines[1]
  for line in "${'$'}{(@)lines[2,-1]}"; do
    value=${'$'}{line%%$'\t'*}
    if [[ $value == *[:/] ]]; then
      open+=("$value")
    else
      values+=("$value")
      texts+=("${'$'}{line/$'\t'/  -- }")
    fi
  done
  (( $#values )) && compadd -l -d texts -a values
  (( $#open )) && compadd -S '' -a open
  case $fallback in
    files) _files ;;
    programs) _command_names -e ;;
  esac
}
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
compdef _execwire execwire
`;

const FISH = String.raw`function __execwire_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (${ASK} $words "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case programs
            complete -C "$current"
    end
    set -e lines[1]
    string join \n -- $lines
end
complete -c execwire -f -a '(__execwire_complete)'
`;

/** The completion script for a shell. */
export function completionScript(shell: (typeof SHELLS)[number]): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell];
}
