import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PackedPackage } from '../harness/packed-package.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The oldest Node we claim, where somebody has it; the one that runs the tests in any case. */
const nodes = [process.execPath, process.env['EXECWIRE_OLDEST_NODE']].filter((path) => path !== undefined);

/** One megabyte. */
const MAX_BYTES = 1_000_000;

/** Packing, and what compiles a whole package, on a busy machine. */
const SLOW_MS = 120_000;

let packed: PackedPackage;
beforeAll(() => {
  packed = new PackedPackage();
}, SLOW_MS);
afterAll(() => packed[Symbol.dispose]());

describe('the package as it is published', () => {
  test('publint finds nothing', async () => {
    const { messages, pkg } = await publint({ pkgDir: packed.path, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test(
    'types resolve for every importer of ES modules',
    async () => {
      const attw = join(root, 'node_modules/.bin/attw');
      // For `require` there is nothing to resolve: the package consists of ES modules.
      const { stdout } = await run(attw, [packed.tarball, '--profile', 'esm-only', '--format', 'json'], {
        maxBuffer: 64 * 1024 * 1024,
      });
      const { analysis } = JSON.parse(stdout) as {
        analysis: { problems: { kind: string; resolutionKind?: string }[]; entrypoints: object };
      };
      const importers = ['node16-esm', 'bundler'];
      const problems = analysis.problems.filter(
        ({ resolutionKind }) => resolutionKind === undefined || importers.includes(resolutionKind),
      );
      expect(problems).toEqual([]);
      expect(Object.keys(analysis.entrypoints).length).toBeGreaterThan(5);
    },
    SLOW_MS,
  );

  test('has no build info, no caches and nothing of the tests', () => {
    const unwanted = packed.files.filter((name) =>
      /tsbuildinfo|\.code$|\.cache|^(test|node_modules|scripts|docs\/reference\/api)\/|\.built-from|results\.json/.test(
        name,
      ),
    );
    expect(unwanted).toEqual([]);
    expect(packed.files).toContain('dist/library/index.js');
  });

  test('every relative link of its documents leads to a file it holds', () => {
    const dangling = packed.files
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) =>
        linksOf(packed.read(name)).flatMap((link) => {
          const target = normalize(join(dirname(name), decodeURIComponent(link)));
          // Pictures are shown where the repository is.
          const place = target.endsWith('.webp') ? root : packed.path;
          return existsSync(join(place, target)) ? [] : [`${name} -> ${link}`];
        }),
      );
    expect(dangling).toEqual([]);
  });

  test('is no larger than what people use of it', () => {
    // The page of the console, command line and library in the same few files, types, guides and schemas.
    expect(statSync(packed.tarball).size).toBeLessThan(MAX_BYTES);
    expect(packed.files.filter((name) => /\.map$|^src\//.test(name))).toEqual([]);
  });

  test(
    'a strict program compiles against its declarations',
    () => {
      const options = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--types',
        'node',
      ];
      writeFileSync(join(packed.project, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(packed.project, 'program.ts'), PROGRAM);
      const tsc = join(root, 'node_modules/.bin/tsc');
      const { stdout } = spawnSync(tsc, [...options, '--lib', 'es2023,esnext.disposable', 'program.ts'], {
        cwd: packed.project,
        encoding: 'utf8',
      });
      // What other packages declare is theirs to get right.
      const ours = stdout.split('\n').filter((line) => /^(program\.ts|node_modules\/execwire\/)/.test(line));
      expect(ours).toEqual([]);
    },
    SLOW_MS,
  );
});

describe('examples in a project that has the package installed', () => {
  test.each([
    'run-locally/main.mjs',
    'agent-tools/agent.mjs',
    'agent-tools/openai-agent.mjs',
    'editor-terminal/main.mjs',
  ])('%s', async (name) => {
    const copy = join(packed.project, 'copied');
    cpSync(join(packed.path, 'examples'), copy, { recursive: true });
    // What the login shell of whoever runs the tests does when it starts, and how long that takes, is not our business.
    const env = { ...process.env, HOME: packed.project };
    const { stderr } = await run(process.execPath, [join(copy, name)], { timeout: 25_000, env });
    expect(stderr).toBe('');
  });
});

describe.each(nodes)('with %s', (node) => {
  const script = async (text: string): Promise<string> => {
    const file = join(packed.project, 'program.mjs');
    writeFileSync(file, text);
    const { stdout, stderr } = await run(node, [file], { timeout: 20_000, cwd: packed.project });
    expect(stderr).toBe('');
    return stdout;
  };

  test('the first snippet of the README runs as it stands and prints what it says', async () => {
    const snippet = firstSnippet(packed.read('README.md'));
    const said = await script(snippet);
    const promised = [...snippet.matchAll(/^console\.log.*\/\/ (\{.*\})$/gm)].map(([, text = '']) => text);
    expect(promised.length).toBeGreaterThan(0);
    for (const text of promised) expect(said.split('\n')).toContain(text);
    expect(said).toBe(`${inspect({ stdout: 'hello\n', exitCode: 3 })}\none\ntwo\n${promised.at(-1)}\n`);
  });

  test('an error that nobody catches is shown without a page of minified code', () => {
    const file = join(packed.project, 'careless.mjs');
    writeFileSync(
      file,
      `import { openEnvironment } from 'execwire';\nawait openEnvironment('ws://127.0.0.1:1');\n`,
    );
    const { stderr, status } = spawnSync(node, [file], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('ExecError: Cannot connect to ws://127.0.0.1:1');
    // Node shows the line that threw.
    expect(stderr.split('\n').filter((line) => line.length > 300)).toEqual([]);
  });

  test('every subpath can be imported', async () => {
    const { exports } = JSON.parse(packed.read('package.json')) as { exports: object };
    const names = Object.keys(exports)
      .filter((name) => name !== './package.json')
      .map((name) => `execwire${name.slice(1)}`);
    const imports = names.map((name) => `console.log(Object.keys(await import('${name}')).length > 0);`);
    expect(await script(imports.join('\n'))).toBe('true\n'.repeat(names.length));
  });

  test('the command line runs', async () => {
    const { stdout } = await run(node, [join(packed.path, 'bin/execwire.js'), 'run', '--', 'echo', 'hi']);
    expect(stdout).toBe('hi\n');
  });
});

function firstSnippet(text: string): string {
  return /^```js\n([^]*?)^```$/m.exec(text)?.[1] ?? '';
}

/** Targets of links, without what is code and without other places of the web. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

const PROGRAM = `
import { openEnvironment, isCommandFailure, type RunResult, type TerminalState, type FileHandle } from 'execwire';
import { serve, type Serving } from 'execwire/server';
import { RemoteEnvironment, dialWebSocket } from 'execwire/client';
import { createMemoryChannels, type Channel } from 'execwire/transport';
import { findProfile, sandboxOfProfile } from 'execwire/policy';
import { anthropicTools, Toolbox } from 'execwire/tools';
import { AppServer } from 'execwire/app';
import { createMcpServer } from 'execwire/mcp';
import { conformanceCases } from 'execwire/conformance';
import { execMethods, type ExecParams } from 'execwire/protocol';

export async function main(): Promise<void> {
  const env = await openEnvironment('local');
  const text: RunResult = await env.run(['true'], { input: 'x', signal: AbortSignal.timeout(1000) });
  const bytes: Uint8Array = (await env.run(['true'], { encoding: 'buffer' })).stdout;
  const again: string = (await env.$({ cwd: '/' })\`ls \${['-l']}\`).stdout;
  for await (const line of env.lines(['ls'])) console.log(line.length, text.exitCode, bytes.length, again);
  const handle: FileHandle = await env.files.open('/etc/hostname', { mode: 'read' });
  await handle.close();
  const state: TerminalState | null | undefined = await (await env.start({ argv: ['sh'], tty: true })).inspect?.();
  const serving: Serving = await serve({ listen: 'ws://127.0.0.1:0', auth: { token: 't' } });
  const [near, far]: [Channel, Channel] = createMemoryChannels();
  void serving.server.accept(far);
  const remote = await RemoteEnvironment.connect({ id: 'r', dial: async () => near, resume: false });
  await remote.run(['true'], { sandbox: sandboxOfProfile(findProfile(':read-only'), '/') });
  const params: ExecParams<'process/signal'> = { processId: 'p', signal: 'SIGINT' };
  console.log(state, dialWebSocket, anthropicTools(new Toolbox(env).tools), AppServer, createMcpServer);
  console.log(conformanceCases.length, execMethods['process/start'].doc, params, isCommandFailure(null));
}
`;
