import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

const ASK = 'sleep 0.5; read -p "Remove 3 packages? [y/N] " a; [ "$a" = y ] && echo removed 3 packages';
const SECRET = 'sleep 0.5; read -s -p "Passphrase: " p; echo; echo "unlocked ${#p}"';
const NEVER = /(?!)/;

export const confirm = {
  name: 'confirm',
  title: 'interactive prompt (y/n)',
  async ours(tools) {
    const { session_id } = await tools.call('exec_command', { cmd: ASK });
    return (await tools.call('write_stdin', { session_id, chars: 'y\n', yield_time_ms: 10_000 })).text;
  },
  async naive(tools) {
    const { id } = await tools.lookUntil(await tools.start(ASK), /y\/N/);
    return (await tools.lookUntil(await tools.type(id, 'y\n'), NEVER)).text;
  },
  verify: (answer) => assert.match(answer, /(?:exited with|Exit) code 0[\s\S]*removed 3 packages/),
};

export const password = {
  name: 'password',
  title: 'password prompt',
  async ours(tools) {
    const asked = await tools.call('exec_command', { cmd: SECRET });
    assert.ok(asked.password, 'the prompt was not seen as one for a password');
    const { session_id } = asked;
    return (await tools.call('write_stdin', { session_id, chars: 'hunter2\n', yield_time_ms: 10_000 })).text;
  },
  async naive(tools) {
    const { id } = await tools.lookUntil(await tools.start(SECRET), /Passphrase/);
    return (await tools.lookUntil(await tools.type(id, 'hunter2\n'), NEVER)).text;
  },
  verify(answer) {
    assert.match(answer, /unlocked 7/);
    assert.ok(!answer.includes('hunter2'));
  },
};

const PYTHON = 'PYTHON_BASIC_REPL=1 python3 -q';
const LINES = ['data = [n * n for n in range(200)]\n', 'data\n', 'sum(data)\n', 'exit()\n'];

export const python = {
  name: 'python',
  title: 'Python session of four lines',
  async ours(tools) {
    let seen = await tools.call('exec_command', { cmd: PYTHON });
    let all = '';
    for (const chars of LINES) {
      seen = await tools.call('write_stdin', { session_id: seen.session_id, chars, yield_time_ms: 10_000 });
      all += seen.output;
    }
    return all;
  },
  async naive(tools) {
    let seen = await tools.lookUntil(await tools.start(PYTHON), />>> /);
    for (const chars of LINES) seen = await tools.type(seen.id, chars);
    return (await tools.lookUntil(seen, NEVER)).text;
  },
  verify: (answer) => assert.match(answer, /2646700/),
};

const REBASE = 'GIT_EDITOR="vim -u NONE -N" git rebase -i --root';
/** Swap the first two commits, drop the third, save and leave. */
const EDIT = 'ggddp3Gdd:wq\r';

export const rebase = {
  name: 'rebase',
  title: 'git rebase -i in an editor',
  prepare(folder) {
    const commit = 'git -c user.name=T -c user.email=t@example.org commit -qm';
    const commits = `for i in 1 2 3; do echo $i > f$i; git add .; ${commit} "change $i"; done`;
    const identity = 'git config user.name T; git config user.email t@example.org';
    execFileSync('sh', ['-c', `git init -q -b main; ${identity}; ${commits}`], { cwd: folder });
  },
  async ours(tools, { folder }) {
    const { session_id } = await tools.call('exec_command', { cmd: REBASE, workdir: folder });
    await tools.call('write_stdin', { session_id, chars: EDIT, yield_time_ms: 10_000 });
    return (await tools.call('exec_command', { cmd: 'git log --format=%s', workdir: folder })).text;
  },
  async naive(tools, { folder }) {
    const { id } = await tools.lookUntil(await tools.start(`cd ${folder}; ${REBASE}`), /pick .* change 3/);
    await tools.lookUntil(await tools.type(id, EDIT), NEVER);
    return (await tools.lookUntil(await tools.start(`cd ${folder}; git log --format=%s`), NEVER)).text;
  },
  verify: (answer) => assert.match(answer, /change 1\r?\nchange 2\r?\n$/),
};
