// Needs: openssl
import { spawnSync } from 'node:child_process';
import type { TestFolder } from './processes.js';

/** A certificate for this machine that nobody but a test trusts. */
export function makeCertificate(folder: TestFolder): [cert: string, key: string] {
  const [cert, key] = [folder.file('cert'), folder.file('key')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const args = ['req', ...kind, '-subj', '/CN=localhost', ...names, '-keyout', key, '-out', cert];
  const { status } = spawnSync('openssl', args);
  if (status !== 0) throw new Error('openssl made no certificate');
  return [cert, key];
}
