import * as protocol from '../../dist/protocol/index.js';

/** The dialects of the wire. Each becomes a JSON Schema, an OpenRPC document and a page. */
export const dialects = [
  {
    name: 'exec-server',
    title: 'Exec server methods',
    intro:
      'What `execwire serve` speaks, and what the client library calls. Methods and fields marked as an *extension* are announced in the `initialize` result; the rest is common to every exec server.',
    requests: protocol.execMethods,
    fromClient: protocol.execClientNotifications,
    fromServer: protocol.execServerNotifications,
    asked: protocol.execServerRequests,
  },
  {
    name: 'app-server',
    title: 'App server methods',
    intro:
      'What `execwire app-server` speaks to editors and desktop apps. `process/*`, `environment/*` and `permissionProfile` need `capabilities.experimentalApi` in `initialize`. Everything that does not decode, unknown methods included, is answered with -32600; notifications from the server carry `emittedAtMs` beside `params`.',
    requests: protocol.appMethods,
    fromClient: protocol.appClientNotifications,
    fromServer: protocol.appServerNotifications,
    asked: {},
  },
];

/** Types that several methods share, under the names the library exports them by. */
export const sharedTypes = {
  AppSandboxPolicy: protocol.AppSandboxPolicy,
  EnvironmentInfo: protocol.EnvironmentInfo,
  EnvPolicy: protocol.EnvPolicy,
  NetworkPermission: protocol.NetworkPermission,
  PermissionEntry: protocol.PermissionEntry,
  PermissionPath: protocol.PermissionPath,
  Permissions: protocol.Permissions,
  Sandbox: protocol.Sandbox,
  SandboxType: protocol.SandboxType,
  SpecialPath: protocol.SpecialPath,
};

export const { errorCatalogue } = protocol;
