import { constants } from 'node:fs';
import type { TerminalSize } from '../../contract/index.js';
import { descriptorFailure, type DescriptorScope } from './descriptors.js';
import { libc, linux } from '../kernel/index.js';

/** The kernel's struct termios: four 32-bit flag words, the line discipline, then the control characters. */
const TERMIOS_BYTES = 64;
const CONTROL_CHARACTERS_AT = 17;
const DEFAULT_EOF = 0x04;
const MAX_SIZE = 0xffff;

/** The size of a terminal, by its master. */
export function terminalSize(master: number): TerminalSize | null {
  const size = new Uint16Array(64);
  if (libc().ioctl(master, linux.TIOCGWINSZ, 'void *', size) !== 0) return null;
  return { rows: size[0] ?? 0, cols: size[1] ?? 0 };
}

/**
 * A new pty: two descriptors of the master (libuv owns one) and one of the slave, which keeps the terminal from hanging
 * up.
 */
export class PseudoTerminal {
  /** Path of the slave, which the child opens as its controlling terminal. */
  readonly path: string;
  /** Our own descriptor of the master, for writes, ioctls and reading what libuv leaves. */
  readonly control: number;
  #master: number;
  #slave: number;
  #closed = false;

  private constructor(fds: { master: number; control: number; slave: number }, path: string) {
    this.#master = fds.master;
    this.control = fds.control;
    this.#slave = fds.slave;
    this.path = path;
  }

  /** The scope owns everything until `keepIn` is called. */
  static open(scope: DescriptorScope, size: TerminalSize): PseudoTerminal {
    const { openMaster, grantpt, unlockpt, ioctl, errno } = libc();
    const flags = constants.O_RDWR | constants.O_NOCTTY | linux.O_CLOEXEC;
    const master = openMaster(flags | constants.O_NONBLOCK);
    if (master < 0) throw descriptorFailure(errno());
    scope.own(master);
    if (grantpt(master) !== 0 || unlockpt(master) !== 0) throw descriptorFailure(errno());
    const slave = ioctl(master, linux.TIOCGPTPEER, 'int', flags);
    if (slave < 0) throw descriptorFailure(errno());
    scope.own(slave);
    const number = new Int32Array(1);
    if (ioctl(master, linux.TIOCGPTN, 'void *', number) !== 0) throw descriptorFailure(errno());
    const fds = { master, slave, control: scope.duplicate(master) };
    const terminal = new PseudoTerminal(fds, `/dev/pts/${number[0]}`);
    terminal.resize(size);
    return terminal;
  }

  /** Continues with the master of a terminal that an earlier server opened. Owns it. */
  static adopt(control: number): PseudoTerminal {
    // Nobody may have had it open meanwhile: with a descriptor of our own, it does not count as hung up.
    const flags = constants.O_RDWR | constants.O_NOCTTY | linux.O_CLOEXEC;
    const slave = libc().ioctl(control, linux.TIOCGPTPEER, 'int', flags);
    return new PseudoTerminal({ master: -1, control, slave }, '');
  }

  /** The child exists: from here on `close` closes the descriptors. */
  keepIn(scope: DescriptorScope): void {
    for (const fd of [this.#master, this.control, this.#slave]) scope.keep(fd);
  }

  /** Hands the master to libuv, which will close it. */
  handOverMaster(): number {
    const master = this.#master;
    this.#master = -1;
    return master;
  }

  resize({ rows, cols }: TerminalSize): void {
    if (this.#closed) return;
    const size = new Uint16Array([Math.min(rows, MAX_SIZE), Math.min(cols, MAX_SIZE), 0, 0]);
    libc().ioctl(this.control, linux.TIOCSWINSZ, 'void *', size);
  }

  /** The current end-of-file character; programs may change it. */
  endOfFileCharacter(): number {
    const modes = new Uint8Array(TERMIOS_BYTES);
    if (this.#closed || libc().ioctl(this.control, linux.TCGETS, 'void *', modes) !== 0) return DEFAULT_EOF;
    return modes[CONTROL_CHARACTERS_AT + linux.VEOF] || DEFAULT_EOF;
  }

  /** Closes our slave descriptor. False if it was closed before. */
  releaseSlave(): boolean {
    if (this.#slave < 0) return false;
    libc().close(this.#slave);
    this.#slave = -1;
    return true;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.releaseSlave();
    libc().close(this.control);
    if (this.#master >= 0) libc().close(this.#master);
  }

  /** Our slave descriptor; negative once released. */
  get slave(): number {
    return this.#slave;
  }

  get closed(): boolean {
    return this.#closed;
  }
}
