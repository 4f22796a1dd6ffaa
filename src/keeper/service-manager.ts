import { sendDatagram } from '../host/kernel/index.js';

const address = process.env.NOTIFY_SOCKET;

/** Tells systemd, or whoever started us like it (`Type=notify`), how we are. */
export function notifyManager(state: 'READY=1' | 'STOPPING=1'): void {
  if (address !== undefined && address !== '') sendDatagram(address, state);
}
