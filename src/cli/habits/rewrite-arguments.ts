/** `-9`, `-TERM`, `-SIGTERM`: what people have typed to `kill` for fifty years. */
const SIGNAL_FLAG = /^-(\d{1,2}|[A-Z][A-Z0-9]+)$/;

/** Turns what the option parser cannot know into what it knows: `kill -9 ID` into `kill --signal=9 ID`. */
export function rewriteArguments(words: readonly string[]): string[] {
  const [command, ...rest] = words;
  if (command !== 'kill') return [...words];
  const end = rest.indexOf('--');
  const flags = end === -1 ? rest : rest.slice(0, end);
  return [
    command,
    ...flags.map((word) => word.replace(SIGNAL_FLAG, '--signal=$1')),
    ...rest.slice(flags.length),
  ];
}
