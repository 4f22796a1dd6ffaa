import { expect, test } from 'vitest';
import { DescriptorScope, waitingBytes } from '../../../src/host/spawn/descriptors.js';
import { libc } from '../../../src/host/kernel/libc.js';
import { PseudoTerminal } from '../../../src/host/spawn/pseudo-terminal.js';
import { flushTerminal } from '../../../src/host/spawn/terminal-state.js';
import { eventually, screen, shell } from './harness.js';

/** Left alone, the kernel is late in some of so many even on an idle machine. */
const ROUNDS = 1000;

test('what was typed and what was printed has arrived once it was passed on', () => {
  using scope = new DescriptorScope();
  const { control, slave } = PseudoTerminal.open(scope, screen);
  const bytes = new Uint8Array(64);
  // No line end in what is printed: the kernel would write that apart from the rest.
  for (const [from, to, text] of [
    [control, slave, 'typed\n'],
    [slave, control, 'printed'],
  ] as const) {
    for (let round = 0; round < ROUNDS; round += 1) {
      libc().write(from, Buffer.from(text), text.length);
      flushTerminal(to);
      expect(waitingBytes(to)).toBe(text.length);
      libc().read(to, bytes, bytes.length);
      // What was typed is echoed.
      flushTerminal(control);
      while (waitingBytes(control) > 0) libc().read(control, bytes, bytes.length);
    }
  }
});

test('a program that was typed to does not wait any more', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { child, seen } = shell('read x; exec sleep 1000', { terminal: screen });
    await eventually(() => child.terminalState()?.waitsForInput === true);
    child.write(Buffer.from('word\n'));
    expect(child.terminalState()?.waitsForInput).toBe(false);
    await child.killTree();
    await seen.untilClosed();
  }
});
