/**
 * The same tasks with the tools that clients bring along, as a sensible model would go about it. Codex has terminals and
 * polls them; Claude Code has neither, so its model answers prompts in advance and waits with a loop of the shell.
 */
const ASK = 'read -p "Remove 3 packages? [y/N] " a; [ "$a" = y ] && echo removed 3 packages';
const SECRET = 'read -s -p "Passphrase: " p; echo; echo "unlocked ${#p}"';
const RUNAWAY = 'trap "exit 130" INT; while :; do echo "retrying the connection"; sleep 0.005; done';
const SESSION = /session ID (\d+)/;

/** What the last answer of a task has to contain, or it does not count. */
export const proofs = {
  build: /Build finished: 30 targets/,
  'failing-test': /parser > keeps nested quotes/,
  'dev-server': /ready on port/,
  confirm: /removed 3 packages/,
  password: /unlocked 7/,
  python: /2646700/,
  rebase: /change 1\r?\nchange 2/,
  'follow-log': /ERROR disk quota exceeded/,
  'huge-json': /r-7731/,
  'quiet-job': /checksum 3f7a/,
  runaway: /code 130|timed out/,
};

/** Codex: `exec_command` and `write_stdin`. */
class Codex {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async run(cmd, args = {}) {
    return await this.#call('exec_command', { cmd, ...args });
  }

  async start(cmd, args = {}) {
    const text = await this.run(cmd, { tty: true, ...args });
    return { text, id: Number(SESSION.exec(text)?.[1]) };
  }

  async type(id, chars, yield_time_ms = 10_000) {
    return await this.#call('write_stdin', { session_id: id, chars, yield_time_ms });
  }

  async pollUntil(id, pattern) {
    for (let text = ''; ; ) {
      text = await this.#call('write_stdin', { session_id: id });
      if (pattern.test(text) || !SESSION.test(text)) return text;
    }
  }
}

export const withCodex = {
  build: (call, { folder }) => new Codex(call).run('python3 build.py', { workdir: folder }),
  async 'failing-test'(call, { folder }) {
    const codex = new Codex(call);
    await codex.run('cat test.log; exit 1', { workdir: folder });
    return await codex.run("grep -A3 '^✗' test.log", { workdir: folder });
  },
  async 'dev-server'(call, { folder, port }) {
    const codex = new Codex(call);
    const { id } = await codex.start(`python3 serve.py ${port}`, { workdir: folder, yield_time_ms: 1000 });
    const text = await codex.pollUntil(id, /ready/);
    await codex.type(id, '\u0003');
    return text;
  },
  async confirm(call) {
    const codex = new Codex(call);
    const { id } = await codex.start(ASK, { yield_time_ms: 1000 });
    return await codex.type(id, 'y\n', 1000);
  },
  async password(call) {
    const codex = new Codex(call);
    const { id } = await codex.start(SECRET, { yield_time_ms: 1000 });
    return await codex.type(id, 'hunter2\n', 1000);
  },
  async python(call) {
    const codex = new Codex(call);
    const { id } = await codex.start('PYTHON_BASIC_REPL=1 python3 -q', { yield_time_ms: 1000 });
    let text = '';
    for (const line of ['data = [n * n for n in range(200)]\n', 'data\n', 'sum(data)\n', 'exit()\n'])
      text += await codex.type(id, line, 500);
    return text;
  },
  async rebase(call, { folder }) {
    const codex = new Codex(call);
    const edit = 'GIT_EDITOR="vim -u NONE -N" git rebase -i --root';
    const { id } = await codex.start(edit, { workdir: folder, yield_time_ms: 1000 });
    await codex.type(id, 'ggddp3Gdd:wq\r', 1000);
    return await codex.run('git log --format=%s', { workdir: folder });
  },
  async 'follow-log'(call, { folder }) {
    const codex = new Codex(call);
    const cmd = ': > app.log; bash service.sh & tail -f app.log';
    const { id } = await codex.start(cmd, { workdir: folder, yield_time_ms: 1000 });
    const text = await codex.pollUntil(id, /ERROR/);
    await codex.type(id, '\u0003');
    return text;
  },
  async 'huge-json'(call, { folder }) {
    const codex = new Codex(call);
    await codex.run('cat data.json', { workdir: folder });
    return await codex.run(`grep -o '"revision":"[^"]*"' data.json`, { workdir: folder });
  },
  async 'quiet-job'(call) {
    const codex = new Codex(call);
    const { id } = await codex.start('sleep 8.5; echo checksum 3f7a; exit 3', { yield_time_ms: 1000 });
    return await codex.type(id, '', 10_000);
  },
  async runaway(call, { folder }) {
    const codex = new Codex(call);
    const { id } = await codex.start(RUNAWAY, { workdir: folder, yield_time_ms: 2000 });
    return await codex.type(id, '\u0003');
  },
};

/** Claude Code: `Bash`, whose `description` its definition asks for, and `TaskStop`. */
const bash = (call, command, description, args = {}) => call('Bash', { command, description, ...args });
const ID = /with ID: (\w+)/;
const FILE = /written to: (\S+?)\.\s/;

export const withClaude = {
  build: (call, { folder }) => bash(call, `cd ${folder}; python3 build.py`, 'Build the project'),
  async 'failing-test'(call, { folder }) {
    await bash(call, `cd ${folder}; cat test.log; exit 1`, 'Run the tests');
    return await bash(call, `grep -A3 '^✗' ${folder}/test.log`, 'Find the failing test');
  },
  async 'dev-server'(call, { folder, port }) {
    const command = `python3 ${folder}/serve.py ${port}`;
    const started = await bash(call, command, 'Start the dev server', { run_in_background: true });
    const file = FILE.exec(started)?.[1];
    const text = await bash(call, `until grep ready ${file}; do sleep 0.2; done`, 'Wait for the server');
    await call('TaskStop', { task_id: ID.exec(started)?.[1] });
    return text;
  },
  confirm: (call) => bash(call, `echo y | bash -c '${ASK}'`, 'Remove 3 packages'),
  password: (call) => bash(call, `echo hunter2 | bash -c '${SECRET}'`, 'Unlock the key'),
  python: (call) =>
    bash(
      call,
      'python3 -c "data = [n * n for n in range(200)]; print(data); print(sum(data))"',
      'Add squares',
    ),
  async rebase(call, { folder }) {
    const editor = `GIT_SEQUENCE_EDITOR="sed -i '1{h;d};2G;3d'"`;
    await bash(call, `cd ${folder}; ${editor} git rebase -i --root`, 'Swap and drop commits');
    return await bash(call, `cd ${folder}; git log --format=%s`, 'Show the history');
  },
  async 'follow-log'(call, { folder }) {
    const wait = 'until grep ^ERROR app.log; do sleep 0.2; done';
    const command = `cd ${folder}; : > app.log; bash service.sh & ${wait}`;
    return await bash(call, command, 'Wait for an error');
  },
  async 'huge-json'(call, { folder }) {
    await bash(call, `cat ${folder}/data.json`, 'Show the data');
    return await bash(call, `grep -o '"revision":"[^"]*"' ${folder}/data.json`, 'Find the revision');
  },
  'quiet-job': (call) => bash(call, 'sleep 8.5; echo checksum 3f7a; exit 3', 'Compute the checksum'),
  runaway: (call) => bash(call, RUNAWAY, 'Connect', { timeout: 2000 }),
};
