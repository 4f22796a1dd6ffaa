import type { Machine } from '../lib/machine.js';
import { keyOf, openPort, usePorts } from '../lib/ports.js';
import { attempt } from '../lib/toasts.js';
import { Icon } from '../ui/icons.js';

const MAX_SHOWN = 3;

/** The ports that a process listens on, to be opened. */
export function ProcessPorts({ machine, processId }: { machine: Machine; processId: string }) {
  const { value: ports = [] } = usePorts(machine);
  const own = ports.filter((each) => each.processId === processId);
  // One that listens on several addresses is still one port.
  const shown = own.filter((each, index) => own.findIndex(({ port }) => port === each.port) === index);
  return (
    <>
      {shown.slice(0, MAX_SHOWN).map((port) => (
        <button
          type="button"
          class="button"
          aria-label={`Open port ${port.port}`}
          onClick={() => void attempt(() => openPort(machine, port))}
          key={keyOf(port)}
        >
          <Icon name="port" />
          {port.port}
        </button>
      ))}
    </>
  );
}
