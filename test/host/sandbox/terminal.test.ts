import { describe, expect, test } from 'vitest';
import { identities, Place, workspacePolicy } from './harness.js';
import { Terminal } from './terminal.js';

describe.each(identities)('a terminal in a sandbox as $name', (identity) => {
  test('has its size, its owner and its exit code', async () => {
    using place = new Place(identity);
    const terminal = await Terminal.open(identity, workspacePolicy(place.workspace), {
      argv: ['sh', '-c', 'stty size; test -t 0 && echo tty; (: > /dev/tty) && echo own; exit 5'],
      cwd: place.workspace,
    });
    expect(await terminal.done).toEqual({ code: 5, screen: '24 80\r\ntty\r\nown\r\n' });
  });

  test('^C reaches the handler of the program and not the sandbox around it', async () => {
    using place = new Place(identity);
    const terminal = await Terminal.open(identity, workspacePolicy(place.workspace), {
      argv: ['sh', '-c', 'trap "echo handled; exit 9" INT; echo ready; while :; do sleep 0.01; done'],
      cwd: place.workspace,
    });
    await terminal.shows('ready');
    terminal.type('\x03');
    expect(await terminal.done).toMatchObject({ code: 9, screen: expect.stringContaining('handled') });
  });

  test('an interactive shell has job control', async () => {
    using place = new Place(identity);
    const terminal = await Terminal.open(identity, workspacePolicy(place.workspace), {
      argv: ['bash', '--norc', '--noprofile', '-i'],
      cwd: place.workspace,
      env: { PS1: 'p\\#> ', HISTFILE: '' },
    });
    // One process per job: a shell stopped between its own fork and exec waits for a child that is stopped too.
    // Input typed before a prompt may be thrown away by the shell, so each line waits for its own.
    await terminal.shows('p1> ');
    terminal.type('sh -c "echo st""arted; exec sleep 1000"\r');
    await terminal.shows('started');
    terminal.type('\x1a');
    await terminal.shows('p2> ');
    terminal.type('jobs; kill %1; fg\r');
    await terminal.shows('p3> ');
    terminal.type('sh -c "echo ag""ain; exec sleep 1000"\r');
    await terminal.shows('again');
    terminal.type('\x03');
    await terminal.shows('p4> ');
    terminal.type('exit 6\r');
    const { code, screen } = await terminal.done;
    expect(code).toBe(6);
    expect(screen).toMatch(/\[1\]\+ +Stopped/);
    expect(screen).not.toMatch(/no job control|cannot set terminal/);
  });

  test('a signal reaches the handler of the program', async () => {
    using place = new Place(identity);
    const terminal = await Terminal.open(identity, workspacePolicy(place.workspace), {
      argv: ['sh', '-c', 'trap "echo handled; exit 9" TERM; echo ready; while :; do sleep 0.01; done'],
      cwd: place.workspace,
    });
    await terminal.shows('ready');
    expect(await terminal.signal('SIGTERM')).toBe(true);
    expect(await terminal.done).toMatchObject({ code: 9 });
  });

  test('everything written before the end is read', async () => {
    using place = new Place(identity);
    for (let round = 0; round < 10; round += 1) {
      const terminal = await Terminal.open(identity, workspacePolicy(place.workspace), {
        argv: ['sh', '-c', 'head -c 5000 /dev/zero | tr "\\0" x; echo; echo end'],
        cwd: place.workspace,
      });
      expect((await terminal.done).screen).toBe(`${'x'.repeat(5000)}\r\nend\r\n`);
    }
  });
});
