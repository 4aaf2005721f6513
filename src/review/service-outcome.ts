import type { Verdict } from '../mapping-service/verdict.js';
import type { StepOutcome } from './delivery.js';
import type { Evidence } from './step.js';

/**
 * What a call's verdict means for the step that made the call.
 *
 * @param sha256 of the bytes sent for review
 */
export function toServiceOutcome(verdict: Verdict, sha256: string): StepOutcome {
  const { code, httpStatus, statusCode, answer } = verdict;
  const evidence: Evidence = { code, httpStatus, statusCode, answer, sha256 };
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'done', evidence };
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = verdict;
      return { kind: 'retryable', evidence, outcomeUnknown, retryAfterMs, refusedWhenSpent };
    }
    case 'refused':
      return { kind: 'refused', evidence };
    case 'fatal':
      return { kind: 'fatal', evidence, advice: 'check service.baseUrl, apiKey and accountId' };
  }
}
