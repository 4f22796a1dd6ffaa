import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSite, type Site } from '../../test/harness/site.js';
import { servers } from '../harness/exec-server.js';
import { execCommand, readReport } from '../harness/model-script.js';
import { openStage, type PlayOptions } from '../harness/stage.js';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

const STATUS = `curl -sS -o /dev/null -w '%{http_code} '`;

/** What the policy lets through, and what it does not: by the proxy, and past it. */
const visits = (): string =>
  `curl -sS ${site.url}; echo; ${STATUS} http://bad.example/; ${STATUS} http://other.example/; curl -s --noproxy '*' ${site.url} || echo none`;

const DOMAINS = `"127.0.0.1" = "allow"\n"bad.example" = "deny"`;

describe.each(servers)('the network proxy of Codex on $name', (kind) => {
  test('lets commands reach the allowed hosts only', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        const { exitCode, output } = readReport(yield execCommand(visits()));
        expect([exitCode, output]).toEqual([0, 'hello\n403 403 none\n']);
        return 'done';
      },
      {
        sandbox: 'workspace-write',
        config: {
          tables: `[sandbox_workspace_write]\nnetwork_access = true\n[features.network_proxy]\nenabled = true\n[features.network_proxy.domains]\n${DOMAINS}`,
        },
      },
    );
    expect(stage.wire.requests('process/start')[0]?.params).toMatchObject({
      enforceManagedNetwork: true,
      networkProxy: { proxy: { enabled: true, mode: 'full' } },
    });
  });

  test('takes the domains of a permission profile', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        const { exitCode, output } = readReport(yield execCommand(visits()));
        expect([exitCode, output]).toEqual([0, 'hello\n403 403 none\n']);
        return 'done';
      },
      {
        sandbox: 'configured',
        features: ['network_proxy'],
        config: {
          top: 'default_permissions = "dev"',
          tables: `[permissions.dev.filesystem]\n":root" = "read"\n":workspace_roots" = "write"\n[permissions.dev.network]\nenabled = true\n[permissions.dev.network.domains]\n${DOMAINS}`,
        },
      },
    );
  });

  test('lets nobody out if no domain is allowed', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        const { output } = readReport(yield execCommand(`${STATUS} ${site.url}; ${STATUS} http://a.example`));
        expect(output).toBe('403 403 ');
        return 'done';
      },
      {
        sandbox: 'workspace-write',
        features: ['network_proxy'],
        config: { tables: '[sandbox_workspace_write]\nnetwork_access = true' },
      },
    );
  });
});

/** An administrator who has the network managed, and a reviewer who decides instead of a person. */
const reviewed = (outcome: 'allow' | 'deny', domains: string): PlayOptions => ({
  sandbox: 'workspace-write',
  requirements: `[experimental_network]\nenabled = true\n${domains}`,
  config: {
    top: 'approval_policy = "on-request"\napprovals_reviewer = "auto_review"',
    tables: '[sandbox_workspace_write]\nnetwork_access = true',
  },
  review: () =>
    JSON.stringify({ outcome, risk_level: 'low', user_authorization: 'high', rationale: 'so said' }),
});

const LOCAL_ALLOWED = '[experimental_network.domains]\n"127.0.0.1" = "allow"';

describe.each(servers)('the reviewer of Codex, asked by $name', (kind) => {
  test('lets a command reach a host that is to be reviewed', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        const { exitCode, output } = readReport(yield execCommand(`curl -sS ${site.url}`));
        expect([exitCode, output]).toEqual([0, 'hello']);
        return 'done';
      },
      reviewed('allow', `review_domains = ["127.0.0.1"]\n${LOCAL_ALLOWED}`),
    );
    const [start] = stage.wire.requests('process/start');
    expect(start?.params?.['networkProxy']).toMatchObject({ proxy: { reviewDomains: ['127.0.0.1'] } });
    expect(stage.wire.messages.filter(({ method }) => method === 'network/policyRequest')).toHaveLength(1);
  });

  test('stops a command at a host that nobody has allowed', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        expect(yield execCommand(`curl -sS ${site.url}; curl -sSf http://one.example/; sleep 60`)).toContain(
          'so said',
        );
        return 'done';
      },
      reviewed('deny', LOCAL_ALLOWED),
    );
    const decisions = stage.wire.messages.filter(({ method }) => method === 'network/policyDecision');
    expect(decisions.map(({ params }) => params?.['decision'])).toEqual(['allow', 'deny']);
  });

  test('lets a command out of its sandbox, proxy and all', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        const escalated = { sandbox_permissions: 'require_escalated', justification: 'needed' } as const;
        const report = readReport(yield execCommand(`curl -sS --noproxy '*' ${site.url}`, escalated));
        expect([report.exitCode, report.output]).toEqual([0, 'hello']);
        return 'done';
      },
      reviewed('allow', LOCAL_ALLOWED),
    );
    expect(stage.wire.requests('process/start')[0]?.params).toMatchObject({ sandbox: null });
  });
});
