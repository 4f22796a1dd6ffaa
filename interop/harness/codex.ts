import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codexProgram } from '../../testkit/launch.mjs';
import { Child, type ChildEnd, describeEnd } from './child.js';
import { cleanEnv } from './clean-env.js';
import { ModelEndpoint, type ModelRequest } from './model-endpoint.js';
import type { ModelScript } from './model-script.js';
import type { RunDirectory } from './run-directory.js';

/** Long enough for the slowest case on a busy machine: Codex alone may wait 25 s for a lost server. */
const runLimitMs = 90_000;

/** How Codex is told where commands run: the address of a server, the text of its `environments.toml`, or variables. */
export type CodexTarget =
  | { readonly url: string }
  | { readonly environmentsToml: string }
  | { readonly variables: Readonly<Record<string, string>> };

/** What one `codex exec` is asked to do. */
export interface CodexOptions {
  readonly run: RunDirectory;
  readonly target: CodexTarget;
  readonly script: ModelScript;
  readonly sandbox?: 'danger-full-access' | 'workspace-write' | 'read-only' | 'configured';
  /** Switched on in its configuration, by name. */
  readonly features?: readonly string[];
  /** More tables of its configuration. They come last; members of no table come first. */
  readonly config?: { readonly top?: string; readonly tables?: string };
  /** What the administrator of the machine demands: the text of `/etc/codex/requirements.toml`, which only this run sees. */
  readonly requirements?: string;
  /** Answers the automatic reviewer of approvals. Absent: it is not expected to be asked. */
  readonly review?: (request: ModelRequest) => string;
}

/** Everything one `codex exec` left behind. */
export interface CodexResult {
  /** The model's last word, as Codex printed it. */
  readonly lastMessage: string | undefined;
  readonly requests: readonly ModelRequest[];
  readonly stderr: string;
}

/** Runs the real Codex over a script, to its successful end. Rejects with all it printed when it fails or hangs. */
export async function runCodex(options: CodexOptions): Promise<CodexResult> {
  await using endpoint = await ModelEndpoint.open(options.script, options.review);
  const env = await prepareHome(options, endpoint.baseUrl);
  const argv = [
    ...(options.requirements === undefined ? [] : await withRequirements(options.run, options.requirements)),
    ...codexProgram,
    'exec',
    '--json',
    '--skip-git-repo-check',
    // A permission profile of the configuration counts only where no sandbox is asked for.
    ...(options.sandbox === 'configured' ? [] : ['--sandbox', options.sandbox ?? 'danger-full-access']),
    'follow the script',
  ];
  await using child = new Child({ argv, cwd: options.run.workspace, env });
  const end = await endWithinLimit(child);
  if (endpoint.scriptError !== undefined) throw endpoint.scriptError;
  if (end?.code !== 0) throw new Error(failureReport(child, end));
  return {
    lastMessage: lastMessage(child.stdout),
    requests: endpoint.requests,
    stderr: child.stderr,
  };
}

/** A command to put before Codex: it sees an `/etc` of its own. */
async function withRequirements(run: RunDirectory, text: string): Promise<string[]> {
  const etc = join(run.root, 'etc');
  await cp('/etc', etc, { recursive: true, verbatimSymlinks: true });
  await mkdir(join(etc, 'codex'), { recursive: true });
  await writeFile(join(etc, 'codex', 'requirements.toml'), text);
  return ['bwrap', '--dev-bind', '/', '/', '--ro-bind', etc, '/etc', '--'];
}

/** Writes what Codex reads at start and returns its environment. */
async function prepareHome(options: CodexOptions, baseUrl: string): Promise<Record<string, string>> {
  const { run, target } = options;
  await writeFile(join(run.clientHome, 'config.toml'), configToml(baseUrl, options));
  const env = cleanEnv(run.clientHome);
  if ('url' in target) return { ...env, CODEX_EXEC_SERVER_URL: target.url };
  if ('variables' in target) return { ...env, ...target.variables };
  await writeFile(join(run.clientHome, 'environments.toml'), target.environmentsToml);
  return env;
}

/** A model Codex knows, since only known ones get the patch tool; no retries, since a script answers each question once. */
function configToml(baseUrl: string, { features = [], config = {} }: CodexOptions): string {
  return `
${config.top ?? ''}
model = "gpt-5.5"
model_provider = "script"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
${features.map((name) => `${name} = true`).join('\n')}
[model_providers.script]
name = "script"
base_url = "${baseUrl}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
${config.tables ?? ''}
`;
}

/** The child's end, or undefined when it had to be killed at the limit. */
async function endWithinLimit(child: Child): Promise<ChildEnd | undefined> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void child.kill();
  }, runLimitMs);
  const end = await child.ended.finally(() => clearTimeout(timer));
  return late ? undefined : end;
}

function failureReport(child: Child, end: ChildEnd | undefined): string {
  const how = end === undefined ? `did not end within ${runLimitMs} ms` : `ended with ${describeEnd(end)}`;
  return `codex exec ${how}\n--- stdout\n${child.stdout}\n--- stderr\n${child.stderr}`;
}

function lastMessage(jsonLines: string): string | undefined {
  const events = jsonLines.split('\n').filter((line) => line.startsWith('{'));
  const messages = events
    .map((line) => JSON.parse(line) as { item?: { type?: string; text?: string } })
    .filter(({ item }) => item?.type === 'agent_message');
  return messages.at(-1)?.item?.text;
}
