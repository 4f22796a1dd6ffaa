import { fstatSync } from 'node:fs';
import type { TerminalState } from '../../contract/index.js';
import { type ReadTerminal, waitsForTerminal } from './blocked-reader.js';
import { waitingBytes } from './descriptors.js';
import { libc, linux } from '../kernel/index.js';
import { scanNow } from './process-scan.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

/** The kernel's struct termios; the local modes are its fourth word. */
const TERMIOS_WORDS = 16;
const LOCAL_MODES = 3;

/** What the foreground job does with its terminal, from the kernel's own state. Null once the leader is gone. */
export function terminalState(terminal: PseudoTerminal): TerminalState | null {
  const { slave } = terminal;
  if (terminal.closed || slave < 0) return null;
  flushTerminal(slave);
  const modes = new Uint32Array(TERMIOS_WORDS);
  const group = new Int32Array(1);
  const { ioctl } = libc();
  if (ioctl(slave, linux.TCGETS, 'void *', modes) !== 0) return null;
  if (ioctl(terminal.control, linux.TIOCGPGRP, 'void *', group) !== 0) return null;
  const local = modes[LOCAL_MODES] ?? 0;
  const takesKeys = (local & linux.ICANON) === 0;
  // Without line mode the program echoes what is typed itself, or chooses not to: only it knows.
  const echo = (local & linux.ECHO) !== 0 || takesKeys;
  const read: ReadTerminal = { device: fstatSync(slave).rdev, takesKeys };
  const waitsForInput = waitingBytes(slave) === 0 && groupWaits(group[0] ?? 0, read, echo);
  // Anything it printed before going to sleep must be readable by now: a prompt belongs to the answer.
  flushTerminal(terminal.control);
  return { waitsForInput, echo };
}

/**
 * The kernel moves bytes through a terminal in the background, on a busy machine as late as a third of a second after
 * they were written. A poll that finds nothing waits until that is done: then input can be counted and output can be
 * read.
 */
export function flushTerminal(descriptor: number): void {
  // struct pollfd is a descriptor and two 16-bit event sets, the second of which is the result.
  libc().poll(Int32Array.of(descriptor, linux.POLLIN), 1, 0);
}

function groupWaits(group: number, terminal: ReadTerminal, echo: boolean): boolean {
  const members = scanNow().processes.filter((each) => each.group === group);
  // We cannot inspect programs of other users. What their password prompts have in common is line mode with echo off.
  return members.some(({ pid }) => waitsForTerminal(pid, terminal) ?? !echo);
}
