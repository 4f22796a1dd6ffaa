import { sendDatagram } from '../host/kernel/index.js';

/** The first descriptor of the sockets that the service manager passed. */
const FIRST_SOCKET = 3;
/** The prefix of the names of sockets that systemd keeps for us. */
const STORED = 'execwire-';

/** The sockets passed by systemd. */
export interface PassedSockets {
  /** Opened by systemd (socket activation), in the order of the unit. */
  readonly activated: readonly number[];
  /** Kept by systemd for an earlier keeper, by name. */
  readonly stored: ReadonlyMap<string, number>;
}

/** Returns none if they are meant for another process. */
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

/** Reports our state to systemd, or another manager with the same protocol (`Type=notify`). */
export function notifyManager(state: 'READY=1' | 'STOPPING=1'): void {
  tell(state);
}

/** The name under which systemd keeps a socket. Only a keeper with the same command line finds it. */
export function storedName(commandMark: string, socket: string): string {
  return `${STORED}${commandMark}-${socket}`;
}

/** Gives systemd a copy of a socket for the next keeper (`FileDescriptorStoreMax`). */
export function storeSocket(name: string, socket: number): void {
  tell(`FDSTORE=1\nFDNAME=${name}`, socket);
}

/** Makes systemd drop the copy with this name. */
export function dropStored(name: string): void {
  tell(`FDSTOREREMOVE=1\nFDNAME=${name}`);
}

function tell(message: string, descriptor?: number): void {
  const { NOTIFY_SOCKET: address = '' } = process.env;
  if (address !== '') sendDatagram(address, message, descriptor);
}
