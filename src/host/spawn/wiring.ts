import { Socket } from 'node:net';
import type { OutputStream, TerminalSize } from '../../contract/index.js';
import { type ChildInput, noInput } from './child-input.js';
import type { ChildSpec } from './child.js';
import type { DescriptorScope } from './descriptors.js';
import type { OutputSource, ReaderEvents } from './output-reader.js';
import { PipeInput } from './pipe-input.js';
import { PipeReader } from './pipe-reader.js';
import type { StandardStreams } from './posix-spawn.js';
import { PseudoTerminal } from './pseudo-terminal.js';
import { PtyInput } from './pty-input.js';
import { PtyReader } from './pty-reader.js';

/** Our side of a child's streams. */
export interface Connections {
  readonly readers: readonly OutputSource[];
  readonly input: ChildInput;
  readonly terminal: PseudoTerminal | null;
}

/** Descriptors for a child that does not exist yet. */
export interface Wiring {
  /** The child's ends. */
  readonly streams: StandardStreams;
  /** Takes our ends out of the scope and starts reading; call once the child exists. */
  connect(events: (stream: OutputStream) => ReaderEvents): Connections;
}

/** Opens the pipes or the terminal for a child. */
export function wire(spec: ChildSpec, scope: DescriptorScope): Wiring {
  const { terminal, stdin, controlsTerminal = true } = spec;
  return terminal ? wireTerminal(terminal, controlsTerminal, scope) : wirePipes(stdin, scope);
}

function wirePipes(stdin: ChildSpec['stdin'], scope: DescriptorScope): Wiring {
  const input = stdin === 'pipe' ? scope.pipe() : null;
  const stdout = scope.pipe();
  const stderr = scope.pipe();
  return {
    streams: {
      kind: 'pipes',
      stdin: input?.readEnd ?? null,
      stdout: stdout.writeEnd,
      stderr: stderr.writeEnd,
    },
    connect: (events) => ({
      readers: [
        new PipeReader(scope.keep(stdout.readEnd), events('stdout')),
        new PipeReader(scope.keep(stderr.readEnd), events('stderr')),
      ],
      input: input ? new PipeInput(openStdin(scope.keep(input.writeEnd))) : noInput,
      terminal: null,
    }),
  };
}

function openStdin(fd: number): Socket {
  return new Socket({ fd, readable: false, writable: true });
}

function wireTerminal(size: TerminalSize, controlling: boolean, scope: DescriptorScope): Wiring {
  const terminal = PseudoTerminal.open(scope, size);
  return {
    streams: { kind: 'terminal', path: terminal.path, controlling },
    connect: (events) => {
      terminal.keepIn(scope);
      return { terminal, input: new PtyInput(terminal), readers: [new PtyReader(terminal, events('pty'))] };
    },
  };
}
