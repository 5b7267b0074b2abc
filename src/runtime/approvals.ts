import { mustAsk, subjectOf, type Arguments } from './tools.js';
import type { RequestBroker } from './requests.js';
import type { Json } from './wire.js';

/**
 * `on-request` asks before every tool call, `never` before none. Without the permissions engine the coarse gate
 * answers: it remembers nothing, so `allow_for_session` is no more than `allow` there (§8.2).
 */
export interface ApprovalPolicy {
  readonly toolApproval: 'on-request' | 'never';
  readonly permissionsEngine: boolean;
}

export class Approvals {
  readonly #allowedForSession = new Set<string>();

  constructor(
    readonly policy: ApprovalPolicy,
    readonly broker: RequestBroker,
  ) {}

  /** Undefined when the call may run, else what the model is told. */
  async denial(tool: string, args: Arguments): Promise<string | undefined> {
    if (!this.#asksAbout(tool, args)) return undefined;
    const subject = subjectOf(tool, args);
    const key = JSON.stringify([tool, subject ?? args]);
    if (this.policy.permissionsEngine && this.#allowedForSession.has(key)) return undefined;
    const answer = await this.broker.ask('approval', { tool, subject, raw_args: args as Record<string, Json> });
    if (answer?.kind === 'approval' && answer.decision !== 'deny') {
      if (answer.decision === 'allow_for_session') this.#allowedForSession.add(key);
      return undefined;
    }
    return this.#refusal(tool);
  }

  /** The coarse gate cannot read malformed arguments, so it denies; the engine leaves them to the tool. */
  malformedDenial(tool: string): string | undefined {
    const { toolApproval, permissionsEngine } = this.policy;
    return permissionsEngine || toolApproval === 'never' ? undefined : this.#refusal(tool);
  }

  /** A background job has nobody to ask: unless nothing needs approval, the policy denies it. */
  backgroundDenial(preapproved: boolean): string | undefined {
    if (preapproved || this.policy.toolApproval === 'never') return undefined;
    if (this.policy.permissionsEngine) return this.#refusal('bash');
    return 'Error: tool `bash` requires approval, which a background job cannot request interactively (§2.2 C6: auto-policy denies)';
  }

  #asksAbout(tool: string, args: Arguments): boolean {
    const { toolApproval, permissionsEngine } = this.policy;
    return toolApproval === 'on-request' || (permissionsEngine && mustAsk(tool, args));
  }

  #refusal(tool: string): string {
    const reason = this.policy.permissionsEngine ? ' (permissions engine: Ask)' : '';
    return `Error: tool \`${tool}\` was not approved for execution${reason}`;
  }
}
