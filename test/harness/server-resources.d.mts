/** What a server holds, seen from outside and, on request, from inside. Give it `env` before it starts, `pid` after. */
export class ServerResources implements Disposable {
  pid: number;
  get env(): Record<string, string>;
  get descriptors(): number;
  get children(): number[];
  inside(): Promise<{ timers: number; handles: number; rss: number; heldBytes: number }>;
  [Symbol.dispose](): void;
}
