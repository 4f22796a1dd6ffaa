import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codexProgram } from '../../testkit/launch.mjs';
import { chatApi, type Dialect, generateContentApi, messagesApi, responsesApi } from './dialects.js';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));
/** The native program of a package, which its own launcher would only find after an install script. */
const native = (path: string): string[] => [join(modules, path)];

/** A program that runs a model with tools. */
export interface McpClient {
  readonly name: string;
  readonly dialect: Dialect;
  readonly program: readonly string[];
  /** What follows the program, as the guide for model tools documents it. */
  readonly add: (command: readonly string[]) => readonly string[];
  /** Starts a conversation that needs nobody at a terminal. */
  readonly run: readonly string[];
  /** The first question to the model may come before our tools are known: a call of its own that leads to another. */
  readonly ownCall?: { readonly tool: string; readonly args: object };
  /** What the client calls one of our tools. */
  readonly nameOf: (tool: string) => string;
  /** Settings that a user would have made, and those that keep it from the network. Called before `add`. */
  readonly prepare: (home: string, modelUrl: string) => Promise<Readonly<Record<string, string>>>;
}

const settings = async (home: string, path: string, content: string): Promise<void> => {
  await mkdir(join(home, path, '..'), { recursive: true });
  await writeFile(join(home, path), content);
};

const claudeCode: McpClient = {
  name: 'Claude Code',
  dialect: messagesApi,
  ownCall: { tool: 'TaskList', args: {} },
  program: native(`@anthropic-ai/claude-code-linux-${process.arch}/claude`),
  add: (command) => ['mcp', 'add', 'execwire', '--', ...command],
  run: ['-p', 'follow the script', '--allowedTools', 'mcp__execwire__*'],
  nameOf: (tool) => `mcp__execwire__${tool}`,
  prepare: async (_home, url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
};

const codex: McpClient = {
  name: 'Codex',
  dialect: responsesApi,
  ownCall: { tool: 'exec_command', args: { cmd: 'true' } },
  program: codexProgram,
  add: (command) => ['mcp', 'add', 'execwire', '--', ...command],
  run: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'follow the script'],
  nameOf: (tool) => `mcp__execwire/${tool}`,
  async prepare(home, url) {
    await settings(
      home,
      'config.toml',
      `model = "gpt-5.5"
model_provider = "script"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.script]
name = "script"
base_url = "${url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
    );
    return { CODEX_HOME: home };
  },
};

const geminiCli: McpClient = {
  name: 'Gemini CLI',
  dialect: generateContentApi,
  program: [process.execPath, join(modules, '@google/gemini-cli/bundle/gemini.js')],
  add: ([program = '', ...args]) => ['mcp', 'add', 'execwire', program, '--', ...args],
  run: ['--model', 'gemini-2.5-pro', '--yolo', '--prompt', 'follow the script'],
  nameOf: (tool) => `mcp_execwire_${tool}`,
  async prepare(home, url) {
    const content = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    };
    await settings(home, '.gemini/settings.json', JSON.stringify(content));
    return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none' };
  },
};

const openCode: McpClient = {
  name: 'opencode',
  dialect: chatApi,
  program: native(`opencode-linux-${process.arch}/bin/opencode`),
  add: (command) => ['mcp', 'add', 'execwire', '--', ...command],
  run: ['run', 'follow the script'],
  nameOf: (tool) => `execwire_${tool}`,
  async prepare(home, url) {
    const options = { baseURL: `${url}/v1`, apiKey: 'none' };
    const content = {
      autoupdate: false,
      share: 'disabled',
      model: 'script/script',
      small_model: 'script/script',
      provider: {
        script: {
          npm: '@ai-sdk/openai-compatible',
          name: 'script',
          options,
          models: { script: { name: 'script' } },
        },
      },
    };
    await settings(home, '.config/opencode/opencode.json', JSON.stringify(content));
    return {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    };
  },
};

export const mcpClients: readonly McpClient[] = [claudeCode, codex, geminiCli, openCode];
