import type { OutputPlace } from '../../contract/index.js';
import type { TreeRoot } from './known-trees.js';

/** Our descriptors of a child, by what they are for. */
export type KeptDescriptors = Readonly<Record<string, number>>;

/** Everything in a sandbox is stopped, because something that it must not change was replaced. */
export interface StoppedSandbox {
  /** Of these, none of us has stopped. */
  readonly stoppedBefore: readonly number[];
  /** What could be changed for a moment. Nothing inside may have it open when it goes on. */
  readonly exposed: readonly string[];
}

/**
 * What lets a child outlive us: the keeper has copies of its descriptors, and files record how far its output and input have
 * come.
 */
export interface ChildKeeping {
  readonly output: OutputPlace;
  /** The beginning of the names of the files with its input. */
  readonly inputPath: string;
  /** Gives copies away. Called before the child is started, and for files that come later. Throws if that is impossible. */
  hold(descriptors: KeptDescriptors): void;
  /** The copy of this descriptor is no longer needed; without a name, none of them is. */
  letGo(name?: string): void;
  /** Called as soon as the child exists. */
  started(root: TreeRoot): void;
  /** Called before its sandbox is stopped, and with null when it continues: should we die, the next server must continue it. */
  stopping(stopped: StoppedSandbox | null): void;
}

/** What was kept of a child between two servers. */
export interface KeptChild {
  readonly root: TreeRoot;
  readonly descriptors: KeptDescriptors;
  /** It has ended, and its log says so. */
  readonly hasExited: boolean;
}
