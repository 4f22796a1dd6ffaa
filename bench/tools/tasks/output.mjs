import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FAILED_TEST = 'parser > keeps nested quotes';
const NEVER = /(?!)/;

/** Six seconds and a half of progress bars and coloured lines. */
const BUILD = `
import time
for target in range(1, 31):
    for step in range(1, 16):
        print(f"\\r\\033[K[{'#' * step:15}] {step * 100 // 15:3}% target {target}", end="", flush=True)
        time.sleep(6.5 / 30 / 15)
    print(f"\\r\\033[K\\033[32mok\\033[0m target {target}", flush=True)
print("Build finished: 30 targets")
`;

export const build = {
  name: 'build',
  title: 'long build with progress bars',
  prepare: (folder) => writeFileSync(join(folder, 'build.py'), BUILD),
  async ours(tools, { folder }) {
    let seen = await tools.call('exec_command', { cmd: 'python3 build.py', workdir: folder });
    if (seen.running) seen = await tools.call('wait_for', { session_id: seen.session_id });
    return seen.text;
  },
  async naive(tools, { folder }) {
    return (await tools.lookUntil(await tools.start(`cd ${folder}; python3 build.py`), NEVER)).text;
  },
  verify: (answer) => assert.match(answer, /(?:exited with|Exit) code 0[\s\S]*Build finished: 30 targets/),
};

/** 5 MB, and in the middle of it the one line that matters. */
function testLog() {
  const passed = (index) =>
    `✓ suite ${index} > case ${index % 7} does what its name says (${index % 50} ms)\n`;
  const half = Array.from({ length: 45_000 }, (_, index) => passed(index)).join('');
  const failure = `✗ ${FAILED_TEST}\n  expected "a 'b' c", got "a b c"\n    at parser.test.ts:81:7\n`;
  return `${half}${failure}${half}1 failed, 90000 passed\n`;
}

export const failingTest = {
  name: 'failing-test',
  title: 'failing test in the middle of a 5 MB log',
  prepare: (folder) => writeFileSync(join(folder, 'test.log'), testLog()),
  async ours(tools, { folder }) {
    const run = { cmd: 'cat test.log; exit 1', workdir: folder };
    let seen = await tools.call('exec_command', run);
    if (seen.running) seen = await tools.call('wait_for', { session_id: seen.session_id });
    const { session_id } = seen;
    return (await tools.call('read_output', { session_id, grep: '^✗', context: 3 })).text;
  },
  async naive(tools, { folder }) {
    return (await tools.lookUntil(await tools.start(`cd ${folder}; cat test.log; exit 1`), NEVER)).text;
  },
  verify: (answer) => {
    assert.ok(answer.includes(`✗ ${FAILED_TEST}`));
    assert.ok(answer.includes('parser.test.ts:81:7'));
  },
};

export const hugeJson = {
  name: 'huge-json',
  title: 'one field of a JSON file of one line, 2 MB',
  prepare(folder) {
    const items = Array.from({ length: 40_000 }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] }));
    writeFileSync(join(folder, 'data.json'), JSON.stringify({ items, revision: 'r-7731' }));
  },
  async ours(tools, { folder }) {
    await tools.call('exec_command', { cmd: 'cat data.json', workdir: folder });
    const cmd = `grep -o '"revision":"[^"]*"' data.json`;
    return (await tools.call('exec_command', { cmd, workdir: folder })).text;
  },
  async naive(tools, { folder }) {
    return (await tools.lookUntil(await tools.start(`cat ${folder}/data.json`), NEVER)).text;
  },
  verify: (answer) => assert.match(answer, /"revision":"r-7731"/),
};
