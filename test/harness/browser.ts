// Needs: chromium
import { createInterface } from 'node:readline';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { expect, test as anyTest, vi } from 'vitest';
import { endChild, bin, launch } from '../../testkit/launch.mjs';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { TestFolder } from './processes.js';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** On a busy machine without a graphics card, the driver and the terminal talk about their speed. */
const ABOUT_SPEED = /GL Driver Message|WebGL|task queue exceeded allotted deadline/;

/**
 * A browser, its page, a server and what runs on it share a machine that may be busy with other tests as well. What comes at all
 * comes within this time.
 */
const PATIENCE_MS = 60_000;
vi.setConfig({ testTimeout: 3 * PATIENCE_MS, hookTimeout: 2 * PATIENCE_MS });

/** A person at a browser: a window of its own, with its own cookies. */
export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
}

export interface PersonOptions {
  /** Default: the newest that was printed. */
  readonly link?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly dark?: boolean;
  /** Another origin that leads to the same server. */
  readonly through?: string;
}

/** A real server with a console, and a real browser. */
export class BrowserConsole implements AsyncDisposable {
  readonly #child: ReturnType<typeof launch>;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #state = new TestFolder();
  #browser: Browser | undefined;
  /** What pages complained about. Empty at the end of every test. */
  readonly complaints: string[] = [];

  private constructor(args: readonly string[], env: Record<string, string>) {
    const variables = { XDG_STATE_HOME: this.#state.path, ...env };
    this.#child = launch([process.execPath, bin, ...args], { env: variables });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#lines.push(line);
      for (const look of this.#waiting) look();
    });
    this.#child.stderr.resume();
  }

  static async open(
    args: readonly string[] = ['serve', '--console', '--log-level', 'silent'],
    env: Record<string, string> = {},
  ): Promise<BrowserConsole> {
    const opened = new BrowserConsole(args, env);
    await opened.line((line) => line.includes('#key='));
    opened.#browser = await launchBrowser();
    return opened;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Where programs connect. */
  get url(): string {
    return this.#lines.find((line) => line.startsWith('ws://')) ?? '';
  }

  get origin(): string {
    return new URL(this.#lines.find((line) => line.startsWith('http')) ?? '').origin;
  }

  /** The first line the server prints that is wanted; waits for it. */
  async line(isWanted: (line: string) => boolean): Promise<string> {
    for (;;) {
      const found = this.#lines.find(isWanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
  }

  /** Opens a window and a link in it. */
  async person(options: PersonOptions = {}): Promise<Person> {
    const { link = await this.freshLink(), size = { width: 1280, height: 800 }, dark = false } = options;
    const { through = this.origin } = options;
    const context = await this.window({ viewport: size, colorScheme: dark ? 'dark' : 'light' });
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      const isComplaint = message.type() === 'error' || message.type() === 'warning';
      if (isComplaint && !ABOUT_SPEED.test(message.text())) this.complaints.push(message.text());
    });
    await page.goto(link.replace(this.origin, through));
    return { page, context };
  }

  /** Opens an empty window. */
  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    if (!this.#browser) throw new Error('there is no browser');
    const still = { reducedMotion: 'reduce', acceptDownloads: true } as const;
    const context = await this.#browser.newContext({ ...still, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  }

  readonly #used = new Set<string>();

  /** One that nobody has used. */
  async freshLink(): Promise<string> {
    const link = await this.line((line) => line.includes('#key=') && !this.#used.has(line));
    this.#used.add(link);
    return link;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser?.close();
    await endChild(this.#child, 'SIGTERM');
    this.#state[Symbol.dispose]();
  }
}

/**
 * Tests of a file that share a console: an agent that works on its machine, and a page where somebody is signed in. No page
 * may have complained during a test.
 */
export const test = anyTest
  // oxlint-disable-next-line no-empty-pattern -- The test runner insists on a pattern.
  .extend('opened', { scope: 'file' }, async ({}, { onCleanup }) => {
    const opened = await BrowserConsole.open();
    onCleanup(() => opened[Symbol.asyncDispose]());
    return opened;
  })
  .extend('agent', { scope: 'file' }, async ({ opened }, { onCleanup }) => {
    const agent = await connectAgent(opened);
    onCleanup(() => agent.close());
    return agent;
  })
  .extend('page', { scope: 'file' }, async ({ opened }) => {
    const { page } = await opened.person();
    await page.getByRole('heading', { name: 'Machines' }).waitFor();
    return page;
  })
  /** The address of a view of the machine. */
  .extend(
    'at',
    { scope: 'file' },
    ({ opened }) =>
      (place: string) =>
        `${opened.origin}/#/local/${place}`,
  )
  .extend('calmPages', { auto: true }, ({ opened }, { onCleanup }) => {
    onCleanup(() => expect(opened.complaints.splice(0)).toEqual([]));
  });

/** A program that works on the machine of a console. */
export async function connectAgent(
  { url }: BrowserConsole,
  clientName = 'an agent',
): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({
    id: 'agent',
    dial: () => dialWebSocket(url),
    resume: true,
    clientName,
  });
}

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['EXECWIRE_CHROMIUM'] ?? '/usr/bin/chromium';
  return await chromium.launch({ executablePath, args: FLAGS });
}

/** What a terminal in a page shows, as screen readers get it. */
export async function screenText(page: Page): Promise<string> {
  const rows = await page.locator('.xterm-accessibility-tree > div').allTextContents();
  return rows.map((row) => row.replaceAll('\u00a0', ' ').trimEnd()).join('\n');
}

/** Waits until a terminal in the page shows something. */
export async function shows(page: Page, text: string | RegExp): Promise<void> {
  await untilSeen(() => screenText(page)).toMatch(text);
}

/** Waits until what is read from a page is as expected: a page changes in its own time. */
export function untilSeen<Value>(read: () => Value | Promise<Value>): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { timeout: PATIENCE_MS });
}

/** What the scripts of a page keep in memory, without what they have dropped. */
export async function heapOf(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await devtools.detach();
  return usedSize;
}
