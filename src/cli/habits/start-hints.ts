import { isExecError } from '../../protocol/errors.js';
import { isMachine } from './machine-argument.js';

/** What only a shell understands. */
const SHELL_SYNTAX = /[\s|&;<>$*?`]/;

/** What the user probably meant by a program that does not exist; undefined if there is no telling. */
export async function startHint(error: unknown, argv: readonly string[]): Promise<string | undefined> {
  if (!isExecError(error, 'spawnFailed') || error.data.reason !== 'programNotFound') return undefined;
  const [program = ''] = argv;
  if (argv.length === 1 && SHELL_SYNTAX.test(program))
    return "No shell is involved. To run a shell command, use: execwire run -- sh -c 'COMMAND'";
  if (argv.length > 1 && (await isMachine(program).catch(() => false)))
    return `To run a program on ${program}, use: execwire run ${program} -- PROGRAM`;
  if (argv.length > 2 && argv[1] === '--')
    return `If ${program} should be a machine: environments.toml has none of that name; \`execwire env list\` shows all.`;
  return undefined;
}
