import { describe, expect, test } from 'vitest';
import type { OpenWire } from './wire.js';

/** Envelope and handshake, statement by statement. */
export function wireEnvelopeContract(name: string, open: OpenWire): void {
  describe(`${name}: envelope`, () => {
    test.each([
      ['broken JSON', '{"id":1,'],
      ['trailing characters', '{"id":1,"method":"x"} y'],
      ['two documents', '{"id":1,"method":"x"}{"id":2,"method":"x"}'],
      ['an array: there are no batches', '[{"id":1,"method":"environment/status"}]'],
      ['a scalar', '42'],
      ['id null', '{"id":null,"method":"x"}'],
      ['id fraction', '{"id":1.5,"method":"x"}'],
      ['id with an exponent', '{"id":1e3,"method":"x"}'],
      ['id boolean', '{"id":true,"method":"x"}'],
      ['id object', '{"id":{},"method":"x"}'],
      ['id beyond 64 bits', '{"id":9223372036854775808,"method":"x"}'],
      ['method not a string', '{"id":1,"method":5}'],
      ['neither method nor result nor error', '{"id":1}'],
      ['malformed error', '{"id":1,"error":{"code":"x"}}'],
      ['malformed trace', '{"id":1,"method":"x","trace":7}'],
      ['a duplicate member', '{"id":1,"method":"x","method":"y"}'],
      ['a duplicate member deep inside', '{"id":1,"method":"x","params":{"a":[{"b":1,"b":2}]}}'],
      ['a duplicate member in disguise', '{"id":1,"method":"x","params":{"a":1,"\\u0061":2}}'],
      ['too deep', `{"id":1,"method":"x","params":${'['.repeat(130)}${']'.repeat(130)}}`],
      ['too many values', `{"id":1,"method":"x","params":[${'0,'.repeat(262_145)}0]}`],
    ])('%s is answered once, with id -1, and the connection lives on', async (_, text) => {
      await using wire = await open();
      wire.client.send(text);
      const answer = await wire.client.answerTo(-1);
      expect(answer.error?.code).toBe(-32600);
      await wire.client.handshake();
      expect(await wire.client.call('environment/status')).toEqual({ status: 'ready' });
      expect(wire.client.arrivals.filter((each) => 'id' in each && each.id === -1)).toHaveLength(1);
    });

    test.each([
      '0',
      '-1',
      '"x"',
      '""',
      '9223372036854775807',
      '-9223372036854775808',
      '9007199254740993',
      '"a\\"b"',
    ])('id %s is echoed to the digit', async (id) => {
      await using wire = await open();
      let raw = '';
      wire.onText((text) => {
        raw += text;
      });
      wire.client.send(`{"jsonrpc":"7","extra":1,"id":${id},"method":"no/such"}`);
      await wire.client.until(() => wire.client.arrivals.length > 0);
      expect(raw).toContain(`"id":${id}}`);
    });

    test('two requests under one id are both answered', async () => {
      await using wire = await open();
      await wire.client.handshake();
      wire.client.send('{"id":7,"method":"environment/status"}');
      wire.client.send('{"id":7,"method":"environment/status","params":{}}');
      await wire.client.until(
        () => wire.client.arrivals.filter((each) => 'id' in each && each.id === 7).length === 2,
      );
    });

    test('absent, null and empty params are one; anything else is refused where none are taken', async () => {
      await using wire = await open();
      await wire.client.handshake();
      for (const params of [undefined, null, {}]) {
        expect(await wire.client.call('environment/status', params)).toEqual({ status: 'ready' });
      }
      for (const params of [{ a: 1 }, []])
        expect(await wire.client.refusal('environment/status', params)).toBe(-32602);
    });
  });

  describe(`${name}: handshake`, () => {
    test('order of checks: unknown method, bad params, then the handshake', async () => {
      await using wire = await open();
      const { client } = wire;
      expect(await client.refusal('no/such')).toBe(-32601);
      expect(await client.refusal('process/terminate', {})).toBe(-32602);
      expect(await client.refusal('environment/status')).toBe(-32600);
      await client.call('initialize', { clientName: '' });
      expect(await client.refusal('environment/status')).toBe(-32600);
      client.send('{"method":"initialized"}');
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
      client.send('{"method":"initialized","params":{}}');
      expect(await client.refusal('initialize', { clientName: 'again' })).toBe(-32600);
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    });

    test('a failed initialize may be tried again', async () => {
      await using wire = await open();
      const { client } = wire;
      expect(await client.refusal('initialize', {})).toBe(-32602);
      expect(await client.refusal('initialize', { clientName: 'x', resumeSessionId: 'unknown' })).toBe(
        -32600,
      );
      await client.handshake();
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    });

    test('initialize describes the machine and announces what is offered', async () => {
      await using wire = await open();
      const result = await wire.client.call('initialize', { clientName: 'x', resumeSessionId: null });
      wire.client.send('{"method":"initialized"}');
      const info = await wire.client.call('environment/info', null);
      const changes = expect.objectContaining({ available: expect.any(Boolean) }) as unknown;
      const sandbox = { level: 'full', maxProcesses: expect.any(Boolean), changes };
      expect(info).toEqual({ ...(result.environmentInfo as object), sandbox });
      expect(info).toMatchObject({
        shell: { name: expect.any(String), path: expect.stringMatching(/^\//) },
        // Codex compares it with the releases that brought something, as semantic versions are compared.
        executorVersion: expect.stringMatching(/^0\.166\.0\+execwire\.\d+\.\d+\.\d+$/),
        providerId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        cwd: expect.stringMatching(/^file:\/\/\//),
        userHomeDir: expect.stringMatching(/^file:\/\/\//),
        platformOs: 'linux',
      });
      expect(result.capabilities).toMatchObject({
        processResize: true,
        processCloseStdin: true,
        processList: true,
      });
      expect(result.capabilities).not.toHaveProperty('flowControl');
    });

    test.each([
      ['an unknown notification', '{"method":"process/list"}'],
      ['initialized before initialize', '{"method":"initialized"}'],
      ['an answer nobody asked for', '{"id":5,"result":{}}'],
      ['an error nobody asked for', '{"id":5,"error":{"code":1,"message":"x"}}'],
      [
        'an acknowledgement that was not negotiated',
        '{"method":"process/ack","params":{"processId":"p","seq":1}}',
      ],
    ])('%s ends the connection', async (_, text) => {
      await using wire = await open();
      wire.client.send(text);
      wire.client.send('{"id":1,"method":"environment/status"}');
      const closed = await wire.client.untilClosed();
      if (wire.tellsWhy) expect(closed).toMatchObject({ code: 1002, reason: expect.stringMatching(/\w/) });
      expect(wire.client.arrivals).toEqual([]);
    });
  });
}
