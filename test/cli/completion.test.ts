// Needs: zsh, fish
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { Tmux } from '../harness/tmux.js';

const PROMPT = '%';

/** A machine called `served` with a few files, and a folder with `execwire` in it for the PATH. */
let server: ServerProcess;
let folder: TestFolder;
let setUp: string;
beforeAll(async () => {
  server = await ServerProcess.start();
  folder = new TestFolder();
  writeFileSync(
    folder.file('environments.toml'),
    `[[environments]]\nid = "served"\nurl = "${server.url}"\n[[environments]]\nid = "dead"\nurl = "ws://127.0.0.1:1"\n`,
  );
  writeFileSync(folder.file('execwire'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
    mode: 0o755,
  });
  mkdirSync(folder.file('there/deep'), { recursive: true });
  for (const name of ['deep/one', 'with space', '.hidden']) writeFileSync(folder.file(`there/${name}`), '');
  setUp = `unset NODE_EXTRA_CA_CERTS; export PATH="${folder.path}:$PATH" EXECWIRE_HOME="${folder.path}"; HOME="${folder.path}"; cd "$HOME";`;
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

type Line = readonly [typed: string, completed: string];

/** What is typed before Tab, and the line there is then: one for each way a script has to hand on an answer. */
const EVERY_SHELL: readonly Line[] = [
  ['execwire ru', 'execwire run'],
  ['execwire run --ti', 'execwire run --timeout'],
  ['execwire run -e se', 'execwire run -e served'],
  ['execwire cp ser', 'execwire cp served:'],
  ['execwire cp x served:AT/the', 'execwire cp x served:AT/there/'],
  ['execwire cp served:AT/there/w', 'execwire cp served:AT/there/with\\ space'],
  ['execwire cp environ', 'execwire cp environments.toml'],
  ['execwire run -- execwi', 'execwire run -- execwire'],
];

/** What the program itself knows, asked through the shell that answers fastest. `AT` stands for the folder. */
const ONE_SHELL: readonly Line[] = [
  ...EVERY_SHELL,
  ['execwire env ch', 'execwire env check'],
  ['execwire ps --token-file environ', 'execwire ps --token-file environments.toml'],
  ['execwire serve --log-format j', 'execwire serve --log-format json'],
  ['execwire env info s', 'execwire env info served'],
  ['execwire help ru', 'execwire help run'],
  ['execwire run --sandbox read', 'execwire run --sandbox read-only'],
  ['execwire serve --spool the', 'execwire serve --spool there/'],
  ['execwire cp -e served :AT/there/.', 'execwire cp -e served :AT/there/.hidden'],
  ['execwire run -e served --cwd AT/th', 'execwire run -e served --cwd AT/there/'],
  ['execwire run cat environ', 'execwire run cat environments.toml'],
];

describe.each([
  ['bash', `exec bash --norc -i`, `PS1='${PROMPT} '; source <(execwire completion bash)`],
  [
    'zsh',
    'exec zsh -f -i',
    `PROMPT='%% '; autoload -U compinit; compinit -u; source <(execwire completion zsh)`,
  ],
])('%s', (_shell, start, prepare) => {
  test('completes commands, options, environments and paths elsewhere', async () => {
    using tmux = new Tmux(`${setUp} ${start}`, { rows: 24, cols: 200 });
    tmux.type(`${prepare}; clear`);
    tmux.press('Enter');
    await tmux.shows(([first]) => first === PROMPT);
    for (const [typed, completed] of EVERY_SHELL) {
      tmux.type(typed.replaceAll('AT', folder.path));
      tmux.press('Tab');
      await tmux.showsLine(`${PROMPT} ${completed.replaceAll('AT', folder.path)}`);
      tmux.press('C-u');
      await tmux.shows(([first]) => first === PROMPT);
    }
  });
});

test('fish completes commands, options, environments and paths elsewhere', () => {
  const ask = ONE_SHELL.map(([typed]) => `complete -C '${typed.replaceAll('AT', folder.path)}' | head -n 1`);
  const script = `execwire completion fish | source\n${ask.join('\n')}\n`;
  const output = execFileSync('sh', ['-c', `${setUp} exec fish --no-config -c "$0"`, script], {
    encoding: 'utf8',
  });
  const first = output.split('\n').map((line) => line.split('\t', 1)[0]);
  // Asked like this it does not quote.
  const expected = ONE_SHELL.map(([, completed]) =>
    completed
      .replaceAll('AT', folder.path)
      .split(/(?<!\\) /)
      .at(-1)
      ?.replaceAll('\\', ''),
  );
  expect(first).toEqual([...expected, '']);
});

test('what cannot be found out completes to nothing', async () => {
  const env = { EXECWIRE_HOME: folder.path };
  const ask = (...words: string[]) => execwire(['completion', 'candidates', '--', ...words], { env });
  const outcomes = await Promise.all([
    ask('cp', 'dead:/'),
    ask('cp', 'unknown:/'),
    ask('no-such-command', ''),
    ask('run', '--timeout', ''),
  ]);
  for (const outcome of outcomes) expect(outcome).toEqual({ code: 0, stdout: 'words\n', stderr: '' });
  expect((await execwire(['completion', 'tcsh'])).code).toBe(2);
});

test('kill completes what runs in any session, attach only what is kept', async () => {
  const tokenFile = folder.file('token');
  writeFileSync(tokenFile, 'a-token-of-this-test-alone', { mode: 0o600 });
  await using guarded = await ServerProcess.start({ args: ['--token-file', tokenFile] });
  const machine = ['-e', guarded.url, '--token-file', tokenFile];
  const ask = async (command: string, ...typed: string[]) => {
    const { stdout } = await execwire(['completion', 'candidates', '--', command, ...machine, ...typed, '']);
    return stdout.split('\n').slice(1, -1);
  };
  const { stdout } = await execwire(['run', ...machine, '--detach', '--', 'sleep', '987']);
  const kept = `${stdout.trim()}\tsleep 987`;
  await using environment = await openEnvironment(guarded.url, { tokenFile });
  const { processId } = await environment.start({ argv: ['sleep', '876'] });
  const other = `${processId}\tsleep 876`;

  expect({
    kill: (await ask('kill')).sort(),
    killAnother: await ask('kill', processId),
    attach: await ask('attach'),
    attachAnother: await ask('attach', stdout.trim()),
  }).toEqual({
    kill: [kept, other].sort(),
    killAnother: [kept],
    attach: [kept],
    attachAnother: [],
  });
});
