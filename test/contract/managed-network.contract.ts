import { describe, expect, test } from 'vitest';
import { outputOf, startParams } from '../../testkit/wire-client.mjs';
import type { OpenWire } from './wire.js';

const proxy = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: true,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  domains: { '*.example.org': 'allow', 'bad.example': 'deny' },
  allowLocalBinding: false,
};

const permissions = { type: 'managed', file_system: { type: 'unrestricted' }, network: 'enabled' };

/** Starts that count on a proxy never run without one. A wrong shape is the caller's fault. */
export function managedNetworkContract(name: string, open: OpenWire): void {
  const opened = async () => {
    const wire = await open();
    await wire.client.handshake();
    return wire;
  };

  describe(`${name}: managed network`, () => {
    test.each([
      { enforceManagedNetwork: true },
      { enforceManagedNetwork: true, managedNetwork: { loopbackPorts: [3128] } },
      { enforceManagedNetwork: true, sandbox: { permissions } },
      { enforceManagedNetwork: true, sandbox: { permissions: { type: 'disabled' } } },
      { enforceManagedNetwork: true, env: { HTTP_PROXY: 'http://proxy.example:9' } },
      { enforceManagedNetwork: true, networkProxy: { proxy: { ...proxy, mode: 'limited' } } },
      { networkProxy: { proxy: { ...proxy, credentialMasking: true } } },
    ])('is refused if it cannot be enforced, and nothing runs: %j', async (more) => {
      await using wire = await opened();
      const { client } = wire;
      const { error } = await client.ask('process/start', startParams('p', ['true'], more));
      expect(error).toMatchObject({
        code: -32603,
        data: { code: 'sandboxUnavailable', reason: expect.any(String), hint: expect.any(String) },
      });
      expect(await client.call('process/list')).toEqual({ processes: [] });
    });

    test.each([
      { enforceManagedNetwork: false, managedNetwork: null, networkProxy: null },
      { managedNetwork: {} },
      { managedNetwork: { loopbackPorts: [80], allowLocalBinding: true, unknown: 1 } },
    ])('what asks for nothing changes nothing: %j', async (more) => {
      await using wire = await opened();
      const { client } = wire;
      await client.call('process/start', startParams('p', ['echo', 'ran'], more));
      expect(outputOf(await client.closedEvents('p')).toString()).toBe('ran\n');
    });

    test('shapes are checked as the peer does', async () => {
      await using wire = await opened();
      const launch = (more: object) => ({ networkProxy: { proxy: { ...proxy, ...more } } });
      const bad: Record<string, unknown>[] = [
        { enforceManagedNetwork: null },
        { enforceManagedNetwork: 'yes' },
        { managedNetwork: 'x' },
        { managedNetwork: { loopbackPorts: [65_536] } },
        { managedNetwork: { loopbackPorts: [-1] } },
        { managedNetwork: { allowLocalBinding: null } },
        { managedNetwork: { allowUnixSockets: [1] } },
        { networkProxy: {} },
        { networkProxy: [] },
        { networkProxy: { proxy: {} } },
        launch({ enabled: false }),
        launch({ mode: 'some' }),
        launch({ domains: ['a'] }),
        launch({ domains: { a: 'maybe' } }),
        ...[
          '**',
          'a.**.com',
          '**x.com',
          '',
          '*.',
          'http://a',
          'a/b',
          '10.0.0.0/8',
          '{a,b}.c',
          'e[xy]',
          'a b',
        ].map((pattern) => launch({ domains: { [pattern]: 'allow' } })),
        launch({ domains: { '*': 'deny' } }),
        launch({ domains: { '[*]': 'deny' } }),
        launch({ reviewDomains: ['http://a'] }),
        launch({ reviewDomains: null }),
        launch({ unixSockets: { '/a': 'none' } }),
        launch({ unixSockets: { relative: 'allow' } }),
        launch({ credentialMasking: null }),
        launch({ credentialProviders: { a: { unknown: 1 } } }),
        launch({ credentialProviders: { a: { auth: ['digest'] } } }),
        { networkProxy: { proxy, auditMetadata: null } },
        { networkProxy: { proxy, auditMetadata: { model: 3 } } },
        { networkProxy: { proxy, environmentId: 3 } },
        { networkProxy: { proxy, policyDecisionTimeoutMs: 0 } },
        { networkProxy: { proxy, policyDecisionTimeoutMs: 1.5 } },
      ];
      for (const more of bad) {
        const code = await wire.client.refusal('process/start', startParams('p', ['true'], more));
        expect({ more, code }).toEqual({ more, code: -32602 });
      }
      const late = { networkProxy: { proxy, policyDecisionTimeoutMs: 5 } };
      for (const id of ['', 'x'.repeat(257)])
        expect(await wire.client.refusal('process/start', startParams(id, ['true'], late))).toBe(-32602);
    });

    test('is announced, without what it would take opening TLS for', async () => {
      await using wire = await opened();
      const { capabilities } = await wire.client.call('environment/info');
      expect(capabilities).toMatchObject({ networkProxyLaunch: true, networkProxyReviewDomains: true });
      expect(capabilities).not.toHaveProperty('credentialMasking');
    });
  });
}
