import { type ChildInput, noInput } from './child-input.js';
import type { ChildSpec } from './child.js';
import type { ChildKeeping, KeptDescriptors } from './child-keeping.js';
import { type DescriptorScope, doNotBlock } from './descriptors.js';
import type { InputRecord } from './input-file.js';
import { type InputTarget, KeptInput, keptInputFile } from './kept-input.js';
import type { ReaderEvents } from './output-reader.js';
import { PseudoTerminal } from './pseudo-terminal.js';
import { SplicedReader } from './spliced-reader.js';
import { SplicedTerminalReader } from './spliced-terminal-reader.js';
import type { OutputStream } from '../../contract/index.js';
import type { Connections, Wiring } from './wiring.js';

type EventsOf = (stream: OutputStream) => ReaderEvents;

/** Like `wire`, for a child that may outlive us: copies of its descriptors are elsewhere before it is started. */
export function wireKept(
  { terminal, stdin, controlsTerminal = true }: ChildSpec,
  keeping: ChildKeeping,
  scope: DescriptorScope,
): Wiring {
  if (!terminal) return wirePipes(stdin, keeping, scope);
  const opened = PseudoTerminal.open(scope, terminal);
  const passage = scope.pipe();
  const descriptors = {
    master: opened.control,
    passageIn: passage.writeEnd,
    passageOut: passage.readEnd,
  };
  keeping.hold(descriptors);
  return {
    streams: { kind: 'terminal', path: opened.path, controlling: controlsTerminal },
    connect: (events) => {
      opened.keepIn(scope);
      for (const fd of [passage.readEnd, passage.writeEnd]) scope.keep(fd);
      return connectTerminal(opened, descriptors, { keeping, events });
    },
  };
}

function wirePipes(stdin: ChildSpec['stdin'], keeping: ChildKeeping, scope: DescriptorScope): Wiring {
  const input = stdin === 'pipe' ? scope.pipe() : null;
  const [stdout, stderr] = [scope.pipe(), scope.pipe()];
  if (input) doNotBlock(input.writeEnd, 'write');
  const kept = {
    stdout: stdout.readEnd,
    stderr: stderr.readEnd,
    ...(input ? { stdin: input.writeEnd } : {}),
  };
  keeping.hold(kept);
  return {
    streams: {
      kind: 'pipes',
      stdin: input?.readEnd ?? null,
      stdout: stdout.writeEnd,
      stderr: stderr.writeEnd,
    },
    connect: (events) => {
      for (const fd of Object.values(kept)) scope.keep(fd);
      return connectPipes(kept, { keeping, events });
    },
  };
}

/** The connections of a child that an earlier server started. Returns the input it had been sent, too. */
export function rewire(
  descriptors: KeptDescriptors,
  options: { keeping: ChildKeeping; events: EventsOf },
): Connections & { readonly record: InputRecord } {
  const { master } = descriptors;
  const connections =
    master === undefined
      ? connectPipes(descriptors, options)
      : connectTerminal(PseudoTerminal.adopt(master), descriptors, options);
  const earlier = keptInputFile(options.keeping, descriptors);
  const { input } = connections;
  if (earlier && input instanceof KeptInput) input.resume(earlier);
  else earlier?.file.close();
  return { ...connections, record: earlier?.record ?? { writes: [], closed: false } };
}

function connectPipes(
  { stdout, stderr, stdin }: KeptDescriptors,
  { keeping, events }: { keeping: ChildKeeping; events: EventsOf },
): Connections {
  const read = (stream: OutputStream, fd: number | undefined): SplicedReader[] =>
    fd === undefined
      ? []
      : [new SplicedReader(stream, fd, { place: keeping.output, events: events(stream) }).start()];
  return {
    readers: [...read('stdout', stdout), ...read('stderr', stderr)],
    input: stdin === undefined ? noInput : inputTo({ kind: 'pipe', fd: stdin }, keeping),
    terminal: null,
  };
}

function connectTerminal(
  terminal: PseudoTerminal,
  { passageIn: writeEnd = -1, passageOut: readEnd = -1 }: KeptDescriptors,
  { keeping, events }: { keeping: ChildKeeping; events: EventsOf },
): Connections {
  const options = { place: keeping.output, events: events('pty') };
  const reader = new SplicedTerminalReader(terminal, { readEnd, writeEnd }, options).start();
  return { terminal, input: inputTo({ kind: 'terminal', terminal }, keeping), readers: [reader] };
}

function inputTo(target: InputTarget, keeping: ChildKeeping): ChildInput {
  return new KeptInput(target, keeping);
}
