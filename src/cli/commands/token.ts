import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import { whyUnwritable } from '../../protocol/file-failure.js';
import { shellWord } from '../terminal/shell-word.js';
import { commandName } from '../command-name.js';

/** As much as a key of AES-256: nobody guesses it. */
const TOKEN_BYTES = 32;

/** `execwire token`: tokens for servers and their clients. */
export function tokenCommand(): Command {
  return new Command('token')
    .summary('make a token for a server and its clients')
    .description('Make a token for a server and its clients.')
    .addCommand(
      new Command('new')
        .summary('make a new token')
        .description(
          'Make a new token of 256 random bits, and explain how both sides use it.\n\n' +
            'Without FILE, the token is printed on stdout. FILE is made readable by you only; an existing file is never replaced.',
        )
        .argument('[file]', 'where to put it')
        .action(makeToken),
    );
}

function makeToken(file: string | undefined): void {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const digest = createHash('sha256').update(token).digest('hex');
  if (file === undefined) process.stdout.write(`${token}\n`);
  else save(resolve(file), token);
  process.stderr.write(explanation(file === undefined ? 'FILE' : shellWord(resolve(file)), digest));
}

function save(path: string, token: string): void {
  try {
    writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const why = whyUnwritable(cause) ?? 'it failed';
    throw new ExecError('invalidConfiguration', `Cannot write ${path}: ${why}.`, { cause });
  }
}

function explanation(file: string, digest: string): string {
  const self = commandName();
  return [
    `On the server:   ${self} serve --listen wss://0.0.0.0:4500 --token-file ${file} --tls-cert CERT --tls-key KEY`,
    `  or, so that the server never holds the token itself: --ws-auth capability-token --ws-token-sha256 ${digest}`,
    `On the client:   ${self} run -e wss://SERVER:4500 --token-file ${file} -- uname -a`,
    `  or in environments.toml: token_file = ${JSON.stringify(file)}`,
    '',
  ].join('\n');
}
