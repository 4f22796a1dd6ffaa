import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, readSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import koffi from 'koffi';
import { confine } from '../../../src/host/sandbox/index.js';
import { type SandboxPolicy } from '../../../src/policy/internal.js';
import { type Identity, supportFor } from './harness.js';

const libc = koffi.load('libc.so.6');
const openMaster = libc.func('int posix_openpt(int flags)');
const grantpt = libc.func('int grantpt(int fd)');
const unlockpt = libc.func('int unlockpt(int fd)');
const ioctl = libc.func('int ioctl(int fd, unsigned long request, ...)');

const O_CLOEXEC = 0o2000000;
const TIOCGPTPEER = 0x5441;
const TIOCSWINSZ = 0x5414;

/** A confined program on a terminal of 24 rows and 80 columns, just enough of one for tests. */
export class Terminal {
  readonly child: ChildProcess;
  readonly signal: (name: `SIG${string}`) => Promise<boolean>;
  readonly done: Promise<{ code: number | null; screen: string }>;
  readonly #master: number;
  readonly #waiting: { text: string; resolve: () => void }[] = [];
  screen = '';

  static async open(
    identity: Identity,
    policy: SandboxPolicy,
    { argv, cwd, env = {} }: { argv: string[]; cwd: string; env?: Record<string, string> },
  ): Promise<Terminal> {
    const support = await supportFor(identity);
    const whole = { PATH: '/usr/bin:/bin', TERM: 'dumb', ...env };
    return new Terminal(identity, confine({ argv, cwd, env: whole, terminal: true }, { policy, support }));
  }

  private constructor({ uid }: Identity, confinement: ReturnType<typeof confine>) {
    const flags = constants.O_RDWR | constants.O_NOCTTY | O_CLOEXEC;
    this.#master = openMaster(flags | constants.O_NONBLOCK);
    grantpt(this.#master);
    unlockpt(this.#master);
    const slave: number = ioctl(this.#master, TIOCGPTPEER, 'int', flags);
    ioctl(this.#master, TIOCSWINSZ, 'void *', new Uint16Array([24, 80, 0, 0]));
    const stdio: number[] = [slave, slave, slave];
    for (const { childFd, fd } of confinement.inheritFds) stdio[childFd] = fd;
    const [program = '', ...args] = confinement.argv;
    this.child = spawn(program, args, {
      cwd: confinement.cwd,
      env: confinement.env,
      stdio,
      detached: true,
      ...(uid !== undefined && { uid, gid: uid }),
    });
    confinement.release();
    this.signal = (name) => confinement.status?.signal(name) ?? Promise.resolve(false);
    const reader = new ReadStream(this.#master);
    reader.on('error', () => {}).on('data', (bytes: Buffer) => this.#show(bytes));
    this.done = new Promise((resolve) => {
      this.child.on('exit', (code) => {
        confinement.status?.over();
        reader.pause();
        this.#drain();
        closeSync(slave);
        reader.destroy();
        resolve({ code, screen: this.screen });
      });
    });
  }

  type(text: string): void {
    writeSync(this.#master, text);
  }

  /** Resolves once the text was shown. */
  shows(text: string): Promise<void> {
    if (this.screen.includes(text)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ text, resolve }));
  }

  #show(bytes: Buffer): void {
    this.screen += bytes.toString('latin1');
    for (const wait of this.#waiting) if (this.screen.includes(wait.text)) wait.resolve();
  }

  /** Our own slave keeps the kernel from hanging up, so what is left is read until there is nothing. */
  #drain(): void {
    const buffer = Buffer.alloc(65_536);
    try {
      for (;;) this.#show(buffer.subarray(0, readSync(this.#master, buffer)));
    } catch {
      // EAGAIN: that was all.
    }
  }
}
