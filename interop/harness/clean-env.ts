/** Nobody listens on the discard port: whatever Codex wants from the internet fails at once instead of leaving the machine. */
const nowhere = 'http://127.0.0.1:9';

/** The whole environment of a program under test: no settings of the person who runs the tests, no way out but loopback. */
export function cleanEnv(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    CODEX_HOME: home,
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    ALL_PROXY: nowhere,
    NO_PROXY: '127.0.0.1',
  };
}
