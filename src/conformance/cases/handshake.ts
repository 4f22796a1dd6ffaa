import type { ConformanceCase } from '../case.js';
import { holds, same } from '../verdict.js';

/** The first messages of a connection, and which error takes precedence. */
export const handshakeCases: readonly ConformanceCase[] = [
  {
    name: 'handshake/order-of-checks',
    says: 'Unknown methods and invalid params are reported in every state; all else needs initialize and initialized.',
    async run({ open }) {
      const wire = await open();
      same('unknown method', await wire.refusal('no/such'), -32601);
      same('bad params', await wire.refusal('process/terminate', {}), -32602);
      same('before initialize', await wire.refusal('environment/status'), -32600);
      await wire.call('initialize', { clientName: '' });
      same('before initialized', await wire.refusal('environment/status'), -32600);
      wire.send('{"method":"initialized"}');
      same('after both', await wire.call('environment/status'), { status: 'ready' });
    },
  },
  {
    name: 'handshake/initialize-twice',
    says: 'A second initialize is refused and changes nothing.',
    async run({ ready }) {
      const wire = await ready();
      same('code', await wire.refusal('initialize', { clientName: 'again' }), -32600);
      same('status', await wire.call('environment/status'), { status: 'ready' });
    },
  },
  {
    name: 'handshake/retry',
    says: 'A failed initialize may be retried on the same connection.',
    async run({ open }) {
      const wire = await open();
      same('no name', await wire.refusal('initialize', {}), -32602);
      const unknown = { clientName: 'x', resumeSessionId: 'no-such-session' };
      same('unknown session', await wire.refusal('initialize', unknown), -32600);
      await wire.handshake();
      same('status', await wire.call('environment/status'), { status: 'ready' });
    },
  },
  {
    name: 'handshake/machine',
    says: 'environment/info returns the absolute path of a shell.',
    async run({ ready }) {
      const wire = await ready();
      const { shell } = await wire.call('environment/info');
      const { name, path } = shell as { name?: unknown; path?: unknown };
      holds('the shell has no name', typeof name === 'string' && name !== '');
      holds('the shell has no absolute path', typeof path === 'string' && /^(\/|[A-Za-z]:)/.test(path));
    },
  },
];
