import { appMethods, ExecError, type MethodTable } from '../protocol/index.js';
import { MAX_RUNS } from './run-table.js';

/** How many requests of one connection may be waiting at a time. */
const MAX_WAITING = 1024;
/** Extra room for requests that end or change a running program, so that a client can clear a jam. */
const CONTROL_RESERVE = 1024;

const methods: MethodTable = appMethods;

/** Answers "overloaded" where requests would otherwise pile up: a client may send faster than a program reads. */
export class AdmissionControl {
  #waiting = 0;
  /** Counted separately: they are answered only when their program ends. */
  #commands = 0;

  run(method: string, dispatch: () => unknown): unknown {
    const isCommand = methods[method]?.answeredAtEnd === true;
    if (isCommand ? this.#commands >= MAX_RUNS : this.#waiting >= limitOf(method)) {
      throw new ExecError('overloaded', 'Server overloaded; retry later.');
    }
    const outcome = dispatch();
    if (outcome instanceof Promise) this.#count(outcome, isCommand);
    return outcome;
  }

  #count(outcome: Promise<unknown>, isCommand: boolean): void {
    const add = (change: number): void => {
      if (isCommand) this.#commands += change;
      else this.#waiting += change;
    };
    add(1);
    const done = (): void => add(-1);
    outcome.then(done, done);
  }
}

function limitOf(method: string): number {
  return methods[method]?.control ? MAX_WAITING + CONTROL_RESERVE : MAX_WAITING;
}
