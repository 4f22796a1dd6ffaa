import { setTimeout as pause } from 'node:timers/promises';
import { RemoteEnvironment } from '../../dist/client/index.js';

/** Between two lines, so that a few talks do not keep the machine busy. */
const LINE_INTERVAL_MS = 10;

/** Somebody who types lines into a program on a machine and waits for each of them to come back. */
export class Talk {
  /** Milliseconds each line took. */
  times = [];
  dials = 0;
  #isOver = false;
  #talking;

  static async begin(dial) {
    const talk = new Talk();
    const counted = () => {
      talk.dials += 1;
      return dial();
    };
    const environment = await RemoteEnvironment.connect({ id: 'talk', dial: counted, resume: true });
    const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
    talk.#talking = talk.#go(cat, environment);
    talk.#talking.catch(() => undefined);
    return talk;
  }

  async #go(cat, environment) {
    try {
      const events = cat.events()[Symbol.asyncIterator]();
      while (!this.#isOver) {
        const begun = performance.now();
        await cat.write('x\n');
        const { value } = await events.next();
        if (value?.type !== 'output' || Buffer.from(value.bytes).toString() !== 'x\n')
          throw new Error('what came back is not what was typed');
        this.times.push(performance.now() - begun);
        await pause(LINE_INTERVAL_MS);
      }
      await cat.closeStdin();
    } finally {
      await environment.close();
    }
  }

  /** Rejects if anything went wrong meanwhile. */
  async end() {
    this.#isOver = true;
    await this.#talking;
  }

  /** The times since this was last called. */
  take() {
    return this.times.splice(0);
  }
}
