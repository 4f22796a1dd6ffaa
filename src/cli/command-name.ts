import { basename, relative } from 'node:path';
import { shellWord } from './terminal/shell-word.js';

/** The command to type for this program: its name if it is installed, else what it was started by. */
export function commandName(): string {
  const script = process.argv[1] ?? 'execwire';
  if (process.env.npm_command === 'exec') return 'npx execwire';
  if (basename(script) === 'execwire') return 'execwire';
  return `node ${shellWord(relative(process.cwd(), script))}`;
}
