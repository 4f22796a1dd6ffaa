import type { AskAboutHost, HostAnswer } from '../../host/index.js';
import { execServerRequests } from '../../protocol/index.js';
import type { Session } from '../session.js';
import type { SessionRegistry } from '../session-registry.js';

/** The session that started a process, which may have ended. */
export type Starter = Pick<Session, 'principal' | 'connection'>;

/** Who started a process, and who else may use it. */
export interface Askable {
  readonly session: Starter;
  readonly sessions: Pick<SessionRegistry, 'all'>;
}

/**
 * Asks the client that started a process about a host. If that client is away and the process is kept, another one that uses it
 * is asked, but never one that does not answer such questions or only views the process.
 */
export function askClients(place: Askable, processId: string): AskAboutHost {
  return async ({ protocol, host, port }, signal) => {
    const messages = askable(place, processId);
    if (!messages) return null;
    const params = { processId, request: { protocol, host, port } };
    const answer = await messages.ask('network/policyRequest', params, { signal });
    const { decision } = execServerRequests['network/policyRequest'].result.parse(answer);
    return answerOf(decision);
  };
}

function askable({ session, sessions }: Askable, processId: string) {
  const users = sessions.all().filter((each) => {
    const use = each.kept.get(processId);
    return use !== undefined && use.client.access !== 'view' && use.kept.owner === session.principal;
  });
  const clients = [session, ...users].map(({ connection }) => connection?.messages);
  return clients.find((messages) => messages?.answersQuestions);
}

function answerOf(decision: { type: string; remember?: string | undefined }): HostAnswer {
  if (decision.type !== 'allow') return 'deny';
  return decision.remember === 'session' ? 'session' : 'once';
}
