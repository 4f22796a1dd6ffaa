import { setTimeout as delay } from 'node:timers/promises';
import { Ledger, tokensOf } from './ledger.mjs';

const POLL_MS = 1000;

const id = { type: 'integer' };
const definitions = [
  ['start', 'Starts a shell command. Returns its output after a second.', { cmd: { type: 'string' } }],
  ['look', 'Waits a second and returns the output of a command.', { id }],
  ['type', 'Types into a command. Returns its output after a second.', { id, chars: { type: 'string' } }],
  ['kill', 'Kills a command.', { id }],
].map(([name, description, properties]) => ({
  name,
  description,
  input_schema: { type: 'object', properties, required: Object.keys(properties) },
}));

/**
 * What is compared with: a tool that returns the whole output as it came, every time, and has nothing to wait with but
 * the clock.
 */
export class NaiveTool {
  ledger = new Ledger();
  definitionTokens = tokensOf(JSON.stringify(definitions));
  #environment;
  #env;
  #commands = [];

  constructor(environment, { home }) {
    this.#environment = environment;
    this.#env = { TERM: 'xterm-256color', PAGER: 'cat', GIT_PAGER: 'cat', HOME: home };
  }

  async start(cmd) {
    return await this.ledger.call('start', { cmd }, async () => {
      const process = await this.#environment.start({
        argv: ['/bin/bash', '-lc', cmd],
        env: this.#env,
        tty: true,
        size: { rows: 24, cols: 80 },
      });
      const command = { process, output: '', exitCode: null, decoder: new TextDecoder() };
      command.over = follow(command);
      const started = this.#commands.push(command) - 1;
      return await this.#view(started);
    });
  }

  async look(id) {
    return await this.ledger.call('look', { id }, () => this.#view(id));
  }

  /** Looks every second until the output matches, or the command has ended. */
  async lookUntil(seen, pattern) {
    let last = seen;
    while (!pattern.test(last.text) && last.exitCode === null) last = await this.look(last.id);
    return last;
  }

  async type(id, chars) {
    return await this.ledger.call('type', { id, chars }, async () => {
      await this.#commands[id].process.write(chars);
      return await this.#view(id);
    });
  }

  async kill(id) {
    return await this.ledger.call('kill', { id }, async () => {
      await this.#commands[id].process.terminate();
      return { text: 'killed' };
    });
  }

  async close() {
    await Promise.all(this.#commands.map(({ process }) => process.terminate().catch(() => false)));
  }

  async #view(id) {
    const command = this.#commands[id];
    await Promise.race([command.over, delay(POLL_MS)]);
    const state = command.exitCode === null ? `running, id ${id}` : `exited with code ${command.exitCode}`;
    return { id, exitCode: command.exitCode, text: `${state}\n${command.output}` };
  }
}

async function follow(command) {
  for await (const event of command.process.events()) {
    if (event.type === 'output') command.output += command.decoder.decode(event.bytes, { stream: true });
    else if (event.type === 'exited') command.exitCode = event.exitCode;
    else if (event.type === 'closed') return;
  }
}
