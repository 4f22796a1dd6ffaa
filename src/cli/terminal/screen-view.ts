import { setTimeout as delay } from 'node:timers/promises';
import type { ExecProcess, ProcessEvent, TerminalScreen } from '../../contract/index.js';
import { PaintedScreen } from '../../screen/painted-screen.js';
import { write } from './print-output.js';
import { currentSize } from './raw-terminal.js';

/** Between two pictures. Nobody sees more of them. */
const FRAME_MS = 33;
const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?7h\u001b[m\u001b[?25h\u001b[?1049l';
const LEAVING_KEYS: readonly number[] = [0x71, 0x03, 0x04];

/** The screen of a process on our terminal, until it ends or the user leaves. */
export class ScreenView {
  readonly #child: ExecProcess;
  readonly #screen: PaintedScreen;
  #shownSeq: number;
  #isPainting = false;
  #isOver = false;

  /** Resolves when the view is over. */
  static async show(child: ExecProcess, screen: TerminalScreen): Promise<void> {
    const view = new ScreenView(child, screen);
    await view.#run();
  }

  private constructor(child: ExecProcess, screen: TerminalScreen) {
    this.#child = child;
    this.#screen = new PaintedScreen(screen);
    this.#shownSeq = screen.afterSeq;
  }

  async #run(): Promise<void> {
    const repaint = (): void => void this.#paint();
    const stopSize = this.#child.watchSize?.((size) => {
      this.#screen.resize(size);
      repaint();
    });
    process.stdout.on('resize', repaint);
    process.stdout.write(ENTER);
    try {
      repaint();
      await Promise.race([this.#follow(), leavingKey()]);
    } finally {
      this.#isOver = true;
      stopSize?.();
      process.stdout.removeListener('resize', repaint);
      if (process.stdin.isTTY) process.stdin.setRawMode(false);
      process.stdin.pause();
      await write(process.stdout, LEAVE);
      this.#screen[Symbol.dispose]();
    }
  }

  async #follow(): Promise<void> {
    for await (const event of this.#child.events()) {
      await this.#take(event);
      void this.#paint();
    }
  }

  async #take(event: ProcessEvent): Promise<void> {
    if (event.type === 'gap' && event.beforeSeq > this.#shownSeq + 1) {
      const fresh = await this.#child.refresh?.();
      if (!fresh) return;
      this.#screen.replace(fresh);
      this.#shownSeq = fresh.afterSeq;
    } else if (event.type === 'output' && event.seq > this.#shownSeq) this.#screen.write(event.bytes);
  }

  /** Paints soon, once for everything that comes until then. */
  async #paint(): Promise<void> {
    if (this.#isPainting) return;
    this.#isPainting = true;
    await delay(FRAME_MS);
    this.#isPainting = false;
    if (!this.#isOver) await write(process.stdout, this.#screen.paint(currentSize()));
  }
}

function leavingKey(): Promise<void> {
  if (process.stdin.isTTY) process.stdin.setRawMode(true);
  return new Promise((resolve) => {
    process.stdin.on('data', (keys: Uint8Array) => {
      if (keys.some((key) => LEAVING_KEYS.includes(key))) resolve();
    });
    process.stdin.once('end', resolve);
  });
}
