// What a terminal has shown so far, and a way to wait for something to appear on it.
export class Screen {
  text = '';
  #waiting = [];

  constructor(process) {
    void this.#follow(process);
  }

  /** Resolves once the text has been shown. */
  shows(wanted) {
    return new Promise((resolve) => {
      this.#waiting.push({ wanted, resolve });
      this.#look();
    });
  }

  async #follow(process) {
    for await (const event of process.events()) {
      if (event.type === 'output') this.text += Buffer.from(event.bytes).toString();
      this.#look();
    }
  }

  #look() {
    for (const { wanted, resolve } of this.#waiting) if (this.text.includes(wanted)) resolve();
    this.#waiting = this.#waiting.filter(({ wanted }) => !this.text.includes(wanted));
  }
}
