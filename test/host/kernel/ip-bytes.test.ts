import { describe, expect, test } from 'vitest';
import { addressKey, keyOfKernelAddress } from '../../../src/host/kernel/ip-bytes.js';

describe('one address, one key', () => {
  test.each([
    ['127.0.0.1', '0100007F'],
    ['::ffff:127.0.0.1', '0100007F'],
    ['127.0.0.1', '0000000000000000FFFF00000100007F'],
    ['::1', '00000000000000000000000001000000'],
    ['::', '00000000000000000000000000000000'],
    ['fe80::1:2%eth0', '000080FE000000000000000002000100'],
    ['2001:db8::a:0:b', 'B80D0120000000000A0000000B000000'],
  ])('%s', (address, kernel) => {
    expect(keyOfKernelAddress(kernel)).toHaveLength(32);
    expect(addressKey(address)).toBe(keyOfKernelAddress(kernel));
  });
});
