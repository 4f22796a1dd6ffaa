import { Command } from 'commander';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** `execwire watch`: looks on, without touching anything. */
export function watchCommand(): Command {
  return withTarget(new Command('watch'))
    .summary('show the screen of a kept process, read-only')
    .description(
      'Show the screen of a kept process as it is, and what happens on it. Nothing you type reaches it, and watching ' +
        'never makes it wait.\n\n' +
        'On a terminal, q or Ctrl-C leaves; what does not fit into yours is cut off. Into a pipe, or from a process ' +
        'without a terminal, its output is printed.',
    )
    .argument('<id>', 'the id that was printed, or its beginning')
    .action(watch);
}

async function watch(id: string, flags: TargetFlags): Promise<void> {
  const { withServer } = await import('./processes.js');
  const { findKept } = await import('./kept.js');
  const { printOutput } = await import('../terminal/print-output.js');
  await withServer(flags, async (server) => {
    const { processId, tty } = findKept(await server.kept(), id);
    if (tty && process.stdout.isTTY) {
      const child = await server.attach(processId, { screen: true, keyboard: 'view', mayPause: false });
      const { ScreenView } = await import('../terminal/screen-view.js');
      if (child.screen) return await ScreenView.show(child, child.screen);
    }
    const child = await server.attach(processId, { keyboard: 'view', mayPause: false });
    await printOutput(child);
  });
}
