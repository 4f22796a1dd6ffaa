import { describe, expect, test } from 'vitest';
import { firstShell } from '../../src/host/machine-info.js';

describe('the shell of the user', () => {
  test('is that of the account, then what the environment names, then the one that is everywhere', () => {
    expect(firstShell(['/bin/zsh', '/bin/bash'])).toBe('/bin/zsh');
    expect(firstShell([null, '/bin/bash'])).toBe('/bin/bash');
    expect(firstShell([null, undefined])).toBe('/bin/sh');
    expect(firstShell(['', 'bash'])).toBe('/bin/sh');
  });

  test.each(['/usr/sbin/nologin', '/sbin/nologin', '/bin/false'])('is never %s', (refusal) => {
    expect(firstShell([refusal, undefined])).toBe('/bin/sh');
    expect(firstShell([refusal, '/bin/bash'])).toBe('/bin/bash');
    expect(firstShell([refusal, refusal])).toBe('/bin/sh');
  });
});
