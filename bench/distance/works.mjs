import { bin } from '../../testkit/launch.mjs';
import { bareGet, barePut } from './bare-socket.mjs';
import { runCommand } from './command.mjs';
import { COMPRESSING } from './machines.mjs';
import { SMALL_FILES } from './material.mjs';

/**
 * @typedef {object} Work
 * @property {string} name
 * @property {string} title
 * @property {(place: Place) => Record<string, () => Promise<import('./command.mjs').Run>>} subjects what is measured, by name
 */

/**
 * Where work is done: the near ends of the lines, and what there is to move.
 * @typedef {object} Place
 * @property {Record<string, { port: number }>} ends
 * @property {{ options: string[], name: string }} login
 * @property {string} controlPath
 * @property {import('./material.mjs').Material} material
 */

const SERVERS = ['execwire', 'codex'];

/** @type {Work[]} */
export const WORKS = [
  {
    name: 'true',
    title: 'Running `true`',
    subjects: (place) => ({
      ...everyServer(place, (url) => ({ argv: execwire('run', '--no-stdin', '-e', url, '--', 'true') })),
      'ssh, warm': () => runCommand(['ssh', ...warm(place), ...sshTo(place), 'true']),
      'ssh, cold': () => runCommand(['ssh', ...sshTo(place), 'true']),
    }),
  },
  {
    name: 'output',
    title: 'Output that does not shrink, `cat FILE`',
    subjects: (place) => {
      const { random } = place.material;
      return {
        'bare socket': timed(() => bareGet(place.ends.bare.port, random.size)),
        ...printing(place, random),
      };
    },
  },
  {
    name: 'log',
    title: 'Output that shrinks, `cat` of a log',
    subjects: (place) => {
      const { log } = place.material;
      return {
        'bare socket': timed(() => bareGet(place.ends.bare.port, log.size)),
        ...printing(place, log, ['execwire', COMPRESSING, 'codex']),
        'ssh -C': () =>
          runCommand(['ssh', '-C', ...sshTo(place), 'cat', log.path], { outputBytes: log.size }),
      };
    },
  },
  {
    name: 'file-down',
    title: 'A large file, down',
    subjects: (place) => {
      const { random } = place.material;
      return {
        'bare socket': timed(() => bareGet(place.ends.bare.port, random.size)),
        ...everyServer(place, (url) => ({
          argv: execwire('cp', `${url}:${random.path}`, place.material.fresh()),
        })),
        scp: () =>
          runCommand([
            'scp',
            ...scpOptions(place),
            `${place.login.name}:${random.path}`,
            place.material.fresh(),
          ]),
      };
    },
  },
  {
    name: 'file-up',
    title: 'A large file, up',
    subjects: (place) => {
      const { random } = place.material;
      return {
        'bare socket': timed(() => barePut(place.ends.bare.port, random.size)),
        ...everyServer(place, (url) => ({
          argv: execwire('cp', random.path, `${url}:${place.material.fresh()}`),
        })),
        scp: () =>
          runCommand([
            'scp',
            ...scpOptions(place),
            random.path,
            `${place.login.name}:${place.material.fresh()}`,
          ]),
      };
    },
  },
  {
    name: 'tree-down',
    title: `${SMALL_FILES} small files, down`,
    subjects: (place) => {
      const { tree } = place.material;
      return {
        ...everyServer(place, (url) => ({ argv: execwire('cp', `${url}:${tree}`, place.material.fresh()) })),
        'tar | ssh': () =>
          runCommand(
            pipe(
              `ssh ${words(sshTo(place))} 'tar c -C ${tree} .'`,
              `tar x -C ${place.material.freshFolder()}`,
            ),
          ),
      };
    },
  },
  {
    name: 'tree-up',
    title: `${SMALL_FILES} small files, up`,
    subjects: (place) => {
      const { tree } = place.material;
      return {
        ...everyServer(place, (url) => ({ argv: execwire('cp', tree, `${url}:${place.material.fresh()}`) })),
        'tar | ssh': () =>
          runCommand(
            pipe(
              `tar c -C ${tree} .`,
              `ssh ${words(sshTo(place))} 'tar x -C ${place.material.freshFolder()}'`,
            ),
          ),
      };
    },
  },
];

/** `cat` of a file by everybody who can. @param {Place} place @param {{ path: string, size: number }} file */
function printing(place, { path, size }, names = SERVERS) {
  const command = (/** @type {string} */ url) => ({
    argv: execwire('run', '--no-stdin', '-e', url, '--', 'cat', path),
    outputBytes: size,
  });
  return {
    ...everyServer(place, command, names),
    ssh: () => runCommand(['ssh', ...sshTo(place), 'cat', path], { outputBytes: size }),
  };
}

/**
 * The same command towards our server and towards codex's, where there is one.
 * @param {Place} place
 * @param {(url: string) => { argv: string[], outputBytes?: number | undefined }} command
 */
function everyServer({ ends }, command, names = SERVERS) {
  const servers = names.filter((name) => name in ends);
  return Object.fromEntries(
    servers.map((name) => [
      name,
      () => {
        const { argv, outputBytes } = command(`ws://127.0.0.1:${ends[name].port}`);
        return runCommand(argv, { outputBytes });
      },
    ]),
  );
}

/** @param {() => Promise<void>} work */
function timed(work) {
  return async () => {
    const begun = performance.now();
    await work();
    return { seconds: (performance.now() - begun) / 1000 };
  };
}

const execwire = (/** @type {string[]} */ ...args) => [process.execPath, bin, ...args];

/** @param {Place} place */
export const sshTo = ({ login, ends }) => [...login.options, '-p', `${ends.ssh.port}`, login.name];

/** Goes over a connection that is there already. @param {Place} place */
export const warm = ({ controlPath, ends }) => ['-o', `ControlPath=${controlPath}-${ends.ssh.port}`];

/** @param {Place} place */
const scpOptions = ({ login, ends }) => ['-q', ...login.options, '-P', `${ends.ssh.port}`];

/** Paths and options here are our own and contain nothing that a shell would change. */
const words = (/** @type {string[]} */ args) => args.join(' ');

/** @param {string} from @param {string} to */
const pipe = (from, to) => ['bash', '-o', 'pipefail', '-c', `${from} | ${to}`];
