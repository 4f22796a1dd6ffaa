import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const transport = new URL('../../dist/transport/index.js', import.meta.url).href;

/** Opens files until none is left, lets some go, and tries to start a program each time. */
const TRY = `
  const { closeSync, openSync } = await import('node:fs');
  const { startProgram } = await import(${JSON.stringify(transport)});
  const opened = [];
  try { for (;;) opened.push(openSync('/', 'r')); } catch {}
  const codes = new Set();
  for (let room = 0; room < 8; room += 1) {
    const channel = await startProgram({ program: '/bin/true' }).catch((error) => codes.add(error.code));
    if (!(channel instanceof Set)) channel.destroy('the test is over');
    closeSync(opened.pop());
  }
  console.log([...codes].join());`;

test('a program that cannot be started for want of descriptors is an error for whoever wanted it', () => {
  const argv = ['--nofile=512:512', process.execPath, '--input-type=module', '-e', TRY];
  expect(
    execFileSync('prlimit', argv, { cwd: fileURLToPath(new URL('.', import.meta.url)) }).toString(),
  ).toBe('notConnected\n');
});
