import { sendDatagram } from '../host/kernel/index.js';

/** Sockets that whoever started us has opened, or kept for us, begin at this descriptor. */
const FIRST_SOCKET = 3;
/** Begins the names of sockets that systemd keeps for us. */
const STORED = 'execwire-';

/** What systemd passed on. */
export interface PassedSockets {
  /** Opened by it (socket activation), in the order of the unit. */
  readonly activated: readonly number[];
  /** Kept by it for a keeper that is gone, by name. */
  readonly stored: ReadonlyMap<string, number>;
}

/** None if they are not meant for us. */
export function passedSockets({ LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES }: NodeJS.ProcessEnv): PassedSockets {
  const count = LISTEN_PID === String(process.pid) ? Number(LISTEN_FDS) : 0;
  const names = (LISTEN_FDNAMES ?? '').split(':');
  const activated: number[] = [];
  const stored = new Map<string, number>();
  for (let index = 0; index < count; index += 1) {
    const name = names[index] ?? '';
    if (name.startsWith(STORED)) stored.set(name, FIRST_SOCKET + index);
    else activated.push(FIRST_SOCKET + index);
  }
  return { activated, stored };
}

/** Tells systemd, or whoever started us like it (`Type=notify`), how we are. */
export function notifyManager(state: 'READY=1' | 'STOPPING=1'): void {
  tell(state);
}

/** The name under which systemd keeps a socket. Only a keeper of the same command line finds it. */
export function storedName(commandMark: string, socket: string): string {
  return `${STORED}${commandMark}-${socket}`;
}

/** Gives systemd a copy of a socket, which the next keeper gets (`FileDescriptorStoreMax`). */
export function storeSocket(name: string, socket: number): void {
  tell(`FDSTORE=1\nFDNAME=${name}`, socket);
}

/** The copy with this name is of no use. */
export function dropStored(name: string): void {
  tell(`FDSTOREREMOVE=1\nFDNAME=${name}`);
}

function tell(message: string, descriptor?: number): void {
  const { NOTIFY_SOCKET: address = '' } = process.env;
  if (address !== '') sendDatagram(address, message, descriptor);
}
