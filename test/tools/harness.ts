import type { Environment } from '../../src/contract/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { type CallOptions, Toolbox, type ToolboxOptions, type ToolResult } from '../../src/tools/index.js';
import { TestFolder } from '../harness/processes.js';

/** Between two looks at what a command has printed. */
const LOOK_MS = 20;

/** What tools that run or watch a command answer, as tests read it. */
export interface Report {
  readonly session_id: number;
  readonly running: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly output: string;
  readonly truncated: boolean;
  readonly original_token_count: number;
  readonly needs_input: boolean;
  readonly password: boolean;
  readonly happened?: string;
  readonly match?: string | null;
  readonly matches?: number | null;
  readonly total_lines?: number;
  readonly lost_bytes?: number;
  readonly notes: readonly string[];
}

/** Tools on this machine, or another; sessions and processes end with it. */
export class TestTools implements AsyncDisposable {
  readonly environment: Environment;
  readonly box: Toolbox;
  readonly #home = new TestFolder();

  constructor(options: ToolboxOptions = {}, environment: Environment = new LocalEnvironment()) {
    this.environment = environment;
    // Profiles of whoever runs the tests must not matter, nor be interrupted half way.
    this.box = new Toolbox(this.environment, { ...options, env: { HOME: this.#home.path, ...options.env } });
  }

  call(name: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    return this.box.call(name, args, options);
  }

  /** The structured answer; a tool error fails the test. */
  async report(name: string, args: Record<string, unknown>): Promise<Report> {
    const result = await this.call(name, args);
    if (result.isError) throw new Error(result.text);
    return result.structured as unknown as Report;
  }

  /** Starts a command without a login shell, whose profile would only take time. */
  exec(cmd: string, args: Record<string, unknown> = {}): Promise<Report> {
    return this.report('exec_command', { cmd, login: false, ...args });
  }

  /**
   * Starts a command and waits for what it prints. All of its output is looked at: a line may arrive in pieces, and a
   * terminal delivers the end of a line apart from its text.
   */
  async execUntil(cmd: string, pattern: string, args: Record<string, unknown> = {}): Promise<Report> {
    const wanted = new RegExp(pattern, 'm');
    let report = await this.exec(cmd, { yield_time_ms: 0, ...args });
    const { session_id } = report;
    while (!wanted.test(report.output)) {
      if (!report.running) throw new Error(`ended without ${pattern}: ${report.output}`);
      const rest = await this.report('write_stdin', { session_id, yield_time_ms: LOOK_MS });
      report = { ...rest, output: report.output + rest.output };
    }
    return report;
  }

  /** The sentence of a call that must fail. */
  async failure(name: string, args: Record<string, unknown>): Promise<string> {
    const result = await this.call(name, args);
    if (!result.isError) throw new Error(`no error: ${result.text}`);
    return result.text;
  }

  /** Types and waits until the program wants more input, or ends. Returns everything printed meanwhile. */
  async typeUntilPrompt(sessionId: number, chars: string): Promise<Report> {
    const first = await this.report('write_stdin', { session_id: sessionId, chars, yield_time_ms: 0 });
    if (!first.running) return first;
    const rest = await this.report('wait_for', {
      session_id: sessionId,
      needs_input: true,
      timeout_ms: 20_000,
    });
    return { ...rest, output: first.output + rest.output };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.box.close();
    await this.environment.close();
    this.#home[Symbol.dispose]();
  }
}
