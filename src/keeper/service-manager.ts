import { sendDatagram } from '../host/kernel/index.js';

const address = process.env.NOTIFY_SOCKET;

/** Sockets that whoever started us has opened begin at this descriptor. */
const FIRST_SOCKET = 3;

/** The sockets passed by systemd (socket activation), in the order of the unit; none if they are not meant for us. */
export function passedSockets({ LISTEN_PID, LISTEN_FDS }: NodeJS.ProcessEnv): number[] {
  const count = LISTEN_PID === String(process.pid) ? Number(LISTEN_FDS) : 0;
  return Array.from({ length: count }, (_, index) => FIRST_SOCKET + index);
}

/** Tells systemd, or whoever started us like it (`Type=notify`), how we are. */
export function notifyManager(state: 'READY=1' | 'STOPPING=1'): void {
  if (address !== undefined && address !== '') sendDatagram(address, state);
}
