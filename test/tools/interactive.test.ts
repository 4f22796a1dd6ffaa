// Needs: python3, git
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasAccount } from '../harness/needed-programs.js';
import { TestFolder } from '../harness/processes.js';
import { TestTools } from './harness.js';

/** Takes single keys and ends with the first. */
const RAW_MODE =
  'process.stdin.setRawMode(true); process.stdin.once("data", () => process.exit()); console.log("up");';

const ASYNC_PROMPT = `
import asyncio, os, sys, tty
async def key():
    pressed = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, pressed.set)
    await asyncio.wait_for(pressed.wait(), 1000)
tty.setraw(0)
asyncio.run(key())
os.system("stty sane")
`;

describe('interactive programs, driven only through the tools', () => {
  test('a Python prompt', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.execUntil('PYTHON_BASIC_REPL=1 python3 -q', '>>> ');
    expect((await tools.typeUntilPrompt(session_id, 'x = 6 * 7\n')).output).toContain('>>> ');
    const answer = await tools.typeUntilPrompt(session_id, 'print("x =", x)\n');
    expect(answer).toMatchObject({ running: true, needs_input: true, password: false });
    expect(answer.output).toContain('\nx = 42\n>>> ');
    await tools.report('write_stdin', { session_id, chars: 'while True: pass\n\n', yield_time_ms: 300 });
    expect((await tools.typeUntilPrompt(session_id, '\u0003')).output).toContain('KeyboardInterrupt');
    const end = await tools.report('write_stdin', { session_id, chars: 'exit(3)\n', yield_time_ms: 60_000 });
    expect(end).toMatchObject({ running: false, exit_code: 3 });
  });

  test('git rebase -i in an editor', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const identity = 'git config user.name T; git config user.email t@example.org';
    const commits = 'for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm "commit $i"; done';
    await tools.exec(`git init -q -b main; ${identity}; ${commits}`, { workdir: folder.path });
    const editor = 'GIT_EDITOR="vim -u NONE -N" git rebase -i --root';
    const { session_id } = await tools.execUntil(editor, 'pick .* commit 3', { workdir: folder.path });
    // What is typed before an editor is ready may be taken for the answer of a terminal it has asked.
    await tools.report('wait_for', { session_id, needs_input: true });
    // Swap the first two commits, drop the third, save and leave.
    const end = await tools.report('write_stdin', {
      session_id,
      chars: 'ggddp3Gdd:wq\r',
      yield_time_ms: 60_000,
    });
    expect(end).toMatchObject({ running: false, exit_code: 0 });
    const log = await tools.exec('git log --format=%s', { workdir: folder.path });
    expect(log.output).toBe('commit 1\ncommit 2\n');
  });

  test('top', async () => {
    await using tools = new TestTools();
    const { session_id, output } = await tools.execUntil('top -d 0.5', 'PID +USER');
    expect(output).toMatch(/Tasks: +\d+ total/);
    expect(output).not.toContain('\x1b');
    const end = await tools.report('write_stdin', { session_id, chars: 'q', yield_time_ms: 60_000 });
    expect(end).toMatchObject({ running: false, exit_code: 0 });
  });

  test('ssh-keygen asking for a passphrase', async ({ skip }) => {
    skip(!hasAccount(), 'ssh-keygen works only for users with an account');
    await using tools = new TestTools();
    using folder = new TestFolder();
    const key = folder.file('key');
    const { session_id } = await tools.exec(`ssh-keygen -q -t ed25519 -f ${key}`, { yield_time_ms: 0 });
    const asked = await tools.report('wait_for', { session_id, needs_input: true });
    expect(asked).toMatchObject({ happened: 'needs_input', needs_input: true, password: true });
    const again = await tools.typeUntilPrompt(session_id, 'correct horse\n');
    expect(again).toMatchObject({ password: true });
    expect(again.output).not.toContain('horse');
    const end = await tools.report('write_stdin', {
      session_id,
      chars: 'correct horse\n',
      yield_time_ms: 60_000,
    });
    expect(end).toMatchObject({ running: false, exit_code: 0 });
    expect(existsSync(key)).toBe(true);
    const open = await tools.exec(`ssh-keygen -y -P 'correct horse' -f ${key}`);
    expect(open.output.trim()).toBe(
      readFileSync(`${key}.pub`, 'utf8').trim().split(' ').slice(0, 2).join(' ') + comment(key),
    );
  });

  test('a prompt without echo is a password, one with echo is not', async () => {
    await using tools = new TestTools();
    const script =
      'read -p "name: " n; stty -echo; printf "secret: "; read s; stty echo; echo; echo "$n/${#s}"; sleep 1000';
    const { session_id } = await tools.exec(script, { yield_time_ms: 0 });
    const name = await tools.report('wait_for', { session_id, needs_input: true });
    expect(name).toMatchObject({ needs_input: true, password: false });
    const secret = await tools.typeUntilPrompt(session_id, 'me\n');
    expect(secret).toMatchObject({ needs_input: true, password: true });
    expect(secret.notes).toEqual([]);
    const after = await tools.report('write_stdin', { session_id, chars: 'hunter2\n', yield_time_ms: 0 });
    const rest = after.output.includes('me/7')
      ? after
      : await tools.report('wait_for', { session_id, pattern: 'me/7' });
    expect(rest).toMatchObject({ running: true, needs_input: false, password: false });
    expect(rest.output).not.toContain('hunter2');
  });

  test.each([
    ['an editor with an idle timer', 'exec vim -u NONE -N --cmd "set updatetime=1000000"', ':q!\r'],
    ['the prompt of Node', 'exec node', '.exit\n'],
    ['a prompt with a timer far away', `exec node -e '${RAW_MODE} setTimeout(() => {}, 1e6);'`, 'q'],
    ['a prompt that wakes itself through a socket pair', `exec python3 -c '${ASYNC_PROMPT}'`, 'q'],
  ])('%s needs input although it does not block in a read', async (_name, command, leave) => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec(command, { yield_time_ms: 0 });
    const asked = await tools.report('wait_for', { session_id, needs_input: true, timeout_ms: 20_000 });
    expect(asked).toMatchObject({ happened: 'needs_input', needs_input: true, password: false });
    const end = await tools.report('write_stdin', { session_id, chars: leave, yield_time_ms: 60_000 });
    expect(end).toMatchObject({ running: false, exit_code: 0 });
  });

  test.each([
    ['sleeps', 'echo up; sleep 1000'],
    ['computes', 'echo up; while :; do :; done'],
    ['waits with a time limit', 'echo up; read -t 1000 x'],
    ['waits in the background', 'echo up; (sleep 1000; read x) & wait'],
    ['builds', 'echo up; while :; do (sleep 0.01; echo built); done'],
    ['refreshes while it takes keys', 'echo up; exec top'],
    ['turns a wheel while it takes keys', `exec node -e '${RAW_MODE} setInterval(() => {}, 1000);'`],
    [
      'takes keys beside the network',
      `exec node -e '${RAW_MODE} for (let i = 0; i < 2; i++) require("net").createServer().listen(0);'`,
    ],
  ])('a program that %s does not need input', async (_name, script) => {
    await using tools = new TestTools();
    const { session_id } = await tools.execUntil(script, 'up');
    const waited = await tools.report('wait_for', { session_id, needs_input: true, timeout_ms: 250 });
    expect(waited).toMatchObject({ happened: 'timeout', needs_input: false });
  });
});

/** Newer versions print the comment of the public key too. */
function comment(key: string): string {
  const [, , ...rest] = readFileSync(`${key}.pub`, 'utf8').trim().split(' ');
  return rest.length > 0 ? ` ${rest.join(' ')}` : '';
}
