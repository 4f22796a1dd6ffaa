let granted = false;

/** A program is about to be confined that shares the network of this machine, and so reaches whoever listens here. */
export function noteNetworkGrant(): void {
  granted = true;
}

/** Whether there ever was such a program. What connected before it cannot be it. */
export function wasNetworkGranted(): boolean {
  return granted;
}
