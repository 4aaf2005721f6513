import type { Answer } from './answer.js';

/** A refusal inside HTTP 200. Its words name no guest and quote no secret. */
export type Refusal = Extract<Answer, { kind: 'refusal' }>;

export function refusal(statusCode: number, message: string): Refusal {
  return { kind: 'refusal', statusCode, message };
}
