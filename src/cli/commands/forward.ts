import { Command, InvalidArgumentError } from 'commander';
import type { Environment, PortForward } from '../../contract/index.js';
import { collectPassedBytes } from '../garbage-collector.js';
import { interruptible } from '../terminal/interruption.js';
import { printable } from '../terminal/table.js';
import { closeTarget, openTarget, type TargetFlags, withTarget } from '../options/target-options.js';

/** A port here, and the one it leads to. */
interface Mapping {
  readonly localPort: number;
  readonly port: number;
}

/** `execwire forward`: makes ports of a machine available here. */
export function forwardCommand(): Command {
  return withTarget(new Command('forward'))
    .summary('make ports of a machine available here')
    .description(
      'Make TCP ports of a machine, or of its sandboxes, available on loopback here, until Ctrl-C.\n\n' +
        '`8080` leads to port 8080 there, `8080:3000` to port 3000. If a port is taken here, a free one is used and ' +
        'printed. Connections survive a dropped connection to the machine.',
    )
    .argument('<port...>', 'HERE:THERE, or one number for both', collect)
    .option('--process <id>', 'only if this process listens there')
    .action(forward);
}

function collect(text: string, earlier: readonly Mapping[] = []): readonly Mapping[] {
  const [, here = '', there] = /^(\d{1,5})?(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = Number(there ?? here);
  const localPort = here === '' ? 0 : Number(here);
  if (text === '' || !(port >= 1 && port <= 65_535 && localPort <= 65_535))
    throw new InvalidArgumentError('Write 8080, 8080:3000, or :3000 for any free port here.');
  return [...earlier, { localPort, port }];
}

async function forward(
  mappings: readonly Mapping[],
  flags: TargetFlags & { process?: string },
): Promise<void> {
  const environment = await openTarget(flags);
  try {
    await interruptible(async (signal) => {
      const open: PortForward[] = [];
      for (const mapping of mappings) open.push(await openForward(environment, mapping, flags.process));
      if (!signal.aborted)
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve, { once: true });
        });
      await Promise.all(open.map((each) => each.close()));
      await closeTarget(environment);
    });
  } finally {
    await closeTarget(environment);
  }
}

async function openForward(
  environment: Environment,
  { localPort, port }: Mapping,
  processId: string | undefined,
): Promise<PortForward> {
  let said = '';
  const onError = ({ message }: Error): void => {
    // A browser tries again and again.
    if (message !== said) process.stderr.write(`execwire: ${printable(message)}\n`);
    said = message;
  };
  const opened = await environment.forward(port, {
    localPort,
    processId,
    onError,
    onBytes: collectPassedBytes(),
  });
  if (localPort !== 0 && opened.localPort !== localPort)
    process.stderr.write(
      `execwire: Port ${localPort} is taken here, so ${opened.localPort} is used instead.\n`,
    );
  process.stdout.write(`Forwarding 127.0.0.1:${opened.localPort} to port ${port} of ${environment.id}\n`);
  return opened;
}
