let granted = false;

/** Records that a sandboxed program is about to share this machine's network, and so can reach our listeners. */
export function noteNetworkGrant(): void {
  granted = true;
}

/** True if there ever was such a program. A connection made before cannot be from one. */
export function wasNetworkGranted(): boolean {
  return granted;
}
