// Needs: nats-server, openssl
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { Fleet, FleetMember, readFleetSettings } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { TestFolder } from '../harness/processes.js';

const folder = new TestFolder();
let good: NatsCluster;
let expired: NatsCluster;
let elsewhere: NatsCluster;

beforeAll(async () => {
  for (const name of ['ours', 'other']) authority(name);
  certificate('good', '20200101000000Z', '20990101000000Z');
  certificate('expired', '20200101000000Z', '20210101000000Z');
  certificate('elsewhere', '20200101000000Z', '20990101000000Z', 'IP:127.0.0.9,DNS:localhost');
  [good, expired, elsewhere] = await Promise.all([
    cluster('good', 3),
    cluster('expired', 1),
    cluster('elsewhere', 1),
  ]);
});
afterAll(async () => {
  await Promise.all([good, expired, elsewhere].map((each) => each.stop()));
  folder[Symbol.dispose]();
});

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: folder.path, stdio: 'ignore' });
}

/** A private certificate authority. */
function authority(name: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  openssl('req', '-x509', ...key, '-out', `${name}.pem`, '-days', '2', '-subj', `/CN=${name}`);
}

/** A certificate of our authority for this machine, valid between two moments. */
function certificate(name: string, from: string, to: string, names = 'IP:127.0.0.1'): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  openssl('req', ...key, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  writeFileSync(folder.file(`${name}.index`), '');
  writeFileSync(folder.file(`${name}.serial`), '01\n');
  const config = [
    '[ca]',
    'default_ca = own',
    '[own]',
    `database = ${name}.index`,
    `serial = ${name}.serial`,
    'new_certs_dir = .',
    'default_md = sha256',
    'policy = any',
    'x509_extensions = names',
    '[any]',
    'commonName = supplied',
    '[names]',
    `subjectAltName = ${names}`,
  ];
  writeFileSync(folder.file(`${name}.cnf`), config.join('\n'));
  const signing = ['-cert', 'ours.pem', '-keyfile', 'ours.key', '-in', `${name}.csr`, '-out', `${name}.crt`];
  openssl('ca', '-batch', '-config', `${name}.cnf`, ...signing, '-startdate', from, '-enddate', to);
}

function cluster(name: string, size: number): Promise<NatsCluster> {
  const extra = `tls { cert_file: "${folder.file(`${name}.crt`)}", key_file: "${folder.file(`${name}.key`)}" }`;
  return NatsCluster.start({ size, jetStream: false, extra });
}

/** A settings file as people write it. */
function settings({ urls }: NatsCluster, ca?: string): string {
  const file = folder.file(`${ca ?? 'none'}.toml`);
  const servers = urls.map((url) => url.replace('nats:', 'tls:'));
  writeFileSync(file, `servers = ${JSON.stringify(servers)}\n${ca ? `ca = "${ca}.pem"\n` : ''}`);
  return file;
}

test('a fleet whose servers have certificates of a private authority works, also when a node is lost', async () => {
  const place = readFleetSettings(settings(good, 'ours'));
  const server = new ExecServer();
  await using member = await FleetMember.join(place, { name: 'a', server, insecure: true });
  await using fleet = await Fleet.connect(place);
  await using environment = await RemoteEnvironment.connect({
    id: 'a',
    dial: () => fleet.dial(member.name),
    resume: true,
  });
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  await cat.write('before ');
  const [node] = good.nodes;
  if (!node) throw new Error('no node');
  await good.kill(node);
  await cat.write('after');
  await cat.closeStdin();
  let said = '';
  for await (const event of cat.events())
    if (event.type === 'output') said += Buffer.from(event.bytes).toString();
  expect(said).toBe('before after');
  await good.restart(node);
  await server.close();
});

test.each([
  ['of an authority we do not know', 'other', () => good],
  ['of a private authority that nobody told us about', undefined, () => good],
  ['that has expired', 'ours', () => expired],
  ['for another address and for localhost', 'ours', () => elsewhere],
])('servers with a certificate %s are refused, and nothing is said to them', async (_, ca, which) => {
  const place = readFleetSettings(settings(which(), ca));
  const refused = { code: 'notConnected', message: expect.stringMatching(/^Cannot connect to the fleet: /) };
  await expect(Fleet.connect(place)).rejects.toMatchObject(refused);
  const server = new ExecServer();
  await expect(FleetMember.join(place, { name: 'a', server, insecure: true })).rejects.toMatchObject(refused);
  await server.close();
});

test('servers without TLS are refused if the settings ask for it', async () => {
  await using plain = await NatsCluster.start({ size: 1, jetStream: false });
  const servers = plain.urls.map((url) => url.replace('nats:', 'tls:'));
  await expect(Fleet.connect({ servers })).rejects.toMatchObject({ code: 'notConnected' });
  await expect(Fleet.connect({ servers: plain.urls, caFile: folder.file('ours.pem') })).rejects.toMatchObject(
    { code: 'notConnected' },
  );
});
