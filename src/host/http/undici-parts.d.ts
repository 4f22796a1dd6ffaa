/** The parts of undici without global side effects: its main module installs its own dispatcher behind `fetch`. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/api/index.js' {
  import type { Dispatcher } from 'undici';

  const api: {
    request(
      this: Dispatcher,
      options: Dispatcher.RequestOptions & { readonly origin: string },
    ): Promise<Dispatcher.ResponseData>;
  };
  export default api;
}
