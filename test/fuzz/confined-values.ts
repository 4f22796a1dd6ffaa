/** Values for the members that could do harm, by name. See `SchemaValues`. */
export type FixedValues = Readonly<Record<string, readonly unknown[]>>;

/** The only texts with a slash that may be sent and do not lie in the folder of the test. */
const HARMLESS_ELSEWHERE = new Set([
  'http://127.0.0.1:9/',
  'ftp://127.0.0.1/',
  'ws://127.0.0.1:9',
  '/bin/sh',
]);

function often<Value>(value: Value): Value[] {
  return [value, value, value, value];
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

/** Members both protocols have. `at` makes a path as the protocol writes it. */
function commonValues(at: (name: string) => string): FixedValues {
  // Flat names only: copies into each other's insides would double with every round.
  const flat = [at('a'), at('b'), at('c'), 'x', null];
  return {
    path: [at('a'), at('b'), at('d'), at('d/e'), at('none/x'), 'x', '', 7, null],
    sourcePath: flat,
    destinationPath: flat,
    processId: [...names('p', 200), '', 7],
    size: [...often(null), { rows: 1, cols: 1 }, { rows: 0, cols: -1 }],
    dataBase64: [...often('AAAA'), '', '*'],
  };
}

/** For the exec server: everything that names a file, a program, a signal or an address stays harmless. */
export function execValues(base: string): FixedValues {
  const at = (name: string): string => `file://${base}/${name}`;
  return {
    ...commonValues(at),
    cwd: [at('d'), at('none'), ...often(`file://${base}`), 'x'],
    missing: [[], [at('none')], [at('a'), at('d/x')], 'x', [7]],
    present: [null, at('a'), 7],
    roots: [[], [{ id: 'r', path: at('d') }], [{ id: 'r' }], 'x'],
    argv: [
      ...often(['true']),
      // Reads its input, and ends all the same: `process/wait` is answered only then.
      ['timeout', '2', 'cat'],
      ['echo', 'x'],
      ['true', ''],
      [],
      [''],
      ['no-such-program'],
      'true',
      [7],
    ],
    env: [...often({}), { HOME: base }, { NAME: '' }, { NAME: 7 }, null],
    arg0: [null, 'name', ''],
    signal: ['interrupt', 'SIGTERM', 'SIGCONT', 'SIGNONE', '', 7],
    sandbox: [...often(null), { permissions: { type: 'disabled' } }, {}, 'x'],
    url: ['http://127.0.0.1:9/', 'ftp://127.0.0.1/', 'x', '', 7],
    waitMs: [0, 1, 20, null, -1, 'x'],
    timeoutMs: [1, 50, null, -1, 1.5],
    graceMs: [0, 10, null, -1],
    // Rare to get right by chance, and a start needs all of them.
    envPolicy: [...often(null), {}],
    metadata: [...often(null), { threadId: 'x', toolCallId: '' }],
    shellSnapshot: [...often(null), 'x'],
    chunk: [...often('AAAA'), '', '*'],
    handleId: ['h0', 'h1', 'h2', 'h'.repeat(33), 7],
  };
}

/** For the app server. Programs end by themselves: a command is answered when it has. */
export function appValues(base: string): FixedValues {
  const danger = { type: 'dangerFullAccess' };
  return {
    ...commonValues((name) => `${base}/${name}`),
    command: [...often(['true']), ['echo', 'x'], ['true', ''], [], [''], ['no-such-program'], 'true', [7]],
    cwd: [`${base}/d`, `${base}/none`, 'd', ...often(base), null, 7],
    env: [...often(null), {}, { HOME: base }, { NAME: null }, { NAME: 7 }],
    sandboxPolicy: [...often(null), ...often(danger), { type: 'readOnly' }, {}, 'x'],
    permissionProfile: [...often(null), ...often(null), ':danger-full-access', ':nonsense', 7],
    environmentId: [...often(null), ...often(null), ...often('local'), 'e0', 'none', '', 7],
    execServerUrl: ['ws://127.0.0.1:9', '', 'none', 'x', 7],
    timeoutMs: [1, 50, ...often(null), -1, 1.5],
    deltaBase64: [...often('AAAA'), '', '*'],
    processHandle: [...names('h', 60), '', 7],
  };
}

/** For the tools of the MCP server. */
export function toolValues(base: string): FixedValues {
  return {
    ...commonValues((name) => `${base}/${name}`),
    cmd: [...often('true'), 'echo x', 'exit 3', 'sleep 0.05', '', 7],
    shell: ['/bin/sh', 'no-such-program', 7],
    login: [false],
    workdir: [...often(base), `${base}/none`, 7],
    session_id: [1, 2, 3, 4, 5, 6, 7, 8, 999, 0, -1, 'x'],
    chars: ['x\n', '', '\u0003', '\u0004', 7],
    yield_time_ms: [0, 1, -1, 'x'],
    timeout_ms: [0, 1, -1],
    quiet_ms: [0, 1, -1],
    port: [9, 0, 'x'],
  };
}

/** A last look before anything is sent: no text that could be a path leads out of the folder. */
export function assertConfined(value: unknown, base: string): void {
  if (typeof value === 'string') {
    const leaves =
      value.includes('/') && !value.startsWith(`${base}/`) && !value.startsWith(`file://${base}/`);
    const known = value === base || value === `file://${base}` || HARMLESS_ELSEWHERE.has(value);
    if ((leaves && !known) || value.includes('..')) throw new Error('a path outside the folder of this test');
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) assertConfined(each, base);
  }
}
