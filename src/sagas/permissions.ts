import { put, take } from 'typed-redux-saga';
import { policyAnswer } from '../selectors/requests.js';
import { answerRequested, unresolvedIds } from '../store/requests.js';
import { state, type Link } from './context.js';

/**
 * Answers by policy: what waits when the policy is chosen, and what comes while it holds. A request whose answer
 * failed once is left to a person.
 */
export function* applyPolicy(link: Link) {
  const { connection } = link;
  while (true) {
    const root = yield* state();
    const policy = root.permissions[connection] ?? 'ask';
    const requests = root.requests[connection] ?? {};
    if (policy !== 'ask' && root.connections[connection]?.descriptor?.actions.respond === true) {
      for (const id of unresolvedIds(requests)) {
        const known = requests[id];
        const waits = known?.status.phase === 'pending' && known.status.problem === null;
        const answer = waits && known.request && policyAnswer(known.request, policy);
        if (answer) yield* put(answerRequested({ connection, by: 'policy', ...answer }));
      }
    }
    yield* take('*');
  }
}
