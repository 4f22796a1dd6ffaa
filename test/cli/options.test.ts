import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { neededBy } from '../../src/cli/options/required-options.js';
import { createProgram } from '../../src/cli/program.js';

function allCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

test('help fits into a terminal, and begins with what only this command has', async () => {
  for (const command of allCommands(await createProgram())) {
    const help = command.helpInformation();
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const [, first = ''] = /^(?:[A-Z].*\n)*?^(Options|Machine|Log|Sandbox|Limits):$/m.exec(help) ?? [];
    expect([command.name(), first]).toEqual([command.name(), 'Options']);
  }
});

test('help names only options that the command has', async () => {
  const missing = allCommands(await createProgram()).flatMap((command) =>
    command.options.flatMap((option) =>
      neededBy(option)
        .filter((name) => !command.options.some(({ long }) => long === name))
        .map((name) => `${command.name()} ${option.long}: ${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

test.each([
  ['serve --audit-arguments', '--audit-arguments needs --audit FILE.'],
  ['serve --tls-key k', '--tls-key needs --tls-cert FILE.'],
  ['serve --console-token-file k', '--console-token-file needs --console.'],
  ['serve --name a', '--name needs --fleet WHERE.'],
  ['serve --fleet nats://h:1 --job-lease 1m', '--job-lease needs --job-slots N.'],
  ['serve --environment-id a', '--environment-id needs --remote URL.'],
  ['run --writable /tmp true', '--writable needs --sandbox POLICY or --hold.'],
  ['run --network ask true', '--network needs --sandbox POLICY or --hold.'],
  ['run --changes a true', '--changes needs --hold.'],
  ['run --lease 1m true', '--lease needs --detach.'],
  ['run --keep-stdin true', '--keep-stdin needs --detach.'],
  ['run --all true', '--all needs --on SELECTOR.'],
  ['run --on a --dry-run true', '--dry-run needs --all.'],
  ['run --on a --max-parallel 3 true', '--max-parallel needs --all.'],
  ['shell --writable /tmp', '--writable needs --sandbox POLICY or --hold.'],
  ['mcp --changes a', '--changes needs --hold.'],
  ['mcp --listen-token-file f', '--listen-token-file needs --listen WHERE.'],
  ['logs -i id', '--ignore-case needs --grep PATTERN.'],
  ['job submit --on a --retry-on lost -- true', '--retry-on needs --retries N.'],
  ['gateway --registry-url u', '--registry-url needs --registry FILE.'],
  [
    'ps --token-file f',
    '--token-file needs -e URL. A machine of environments.toml has its own, as token_file.',
  ],
  [
    'ps -e local --token-file f',
    '--token-file needs -e URL. A machine of environments.toml has its own, as token_file.',
  ],
  ['conformance --token-env T', '--token-env needs --url URL.'],
])('%s', async (line, sentence) => {
  const words = line.split(' ');
  const program = await createProgram(words[0]);
  await expect(program.parseAsync(words, { from: 'user' })).rejects.toMatchObject({
    code: 'invalidConfiguration',
    message: sentence,
  });
});
