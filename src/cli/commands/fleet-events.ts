import { printable } from '../terminal/table.js';
import { withFleet } from './fleet-connection.js';

/** Prints what happens in the fleet, until interrupted. */
export async function printEvents({ json = false }: { json?: boolean }): Promise<void> {
  await withFleet(async (fleet) => {
    for await (const { type, machine } of fleet.watch()) {
      const time = new Date().toISOString();
      process.stdout.write(
        json
          ? `${JSON.stringify({ time, type, machine })}\n`
          : `${time}  ${type.padEnd(7)}  ${printable(machine.name)}  ${machine.state}\n`,
      );
    }
  });
}
