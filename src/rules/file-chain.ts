import { isOverdue, type Run } from './run.js';
import type { PlannedStep, StepKind, StepState } from './step.js';

/** The steps of a file delivery, in their order: each is inserted once the one before it is done. */
const chain = ['write', 'upload', 'trigger', 'await-result', 'archive'] as const;

/** Steps that only prepare the by-file call: done, they hand the file's bookings on. */
export const preparingKinds: readonly StepKind[] = ['write', 'upload'];

/** A file run begins with this alone. No steps without bookings for the file. */
export function startChain(bookings: number): PlannedStep[] {
  return bookings === 0 ? [] : [{ name: chain[0], kind: chain[0], bookings }];
}

/** What is inserted once a step is done. The file's bookings go with it until the by-file call is accepted: they count as delivered then. */
export function nextStep({ kind, bookings }: PlannedStep): PlannedStep | undefined {
  const next = chain[positionInChain(kind) + 1];
  if (!isOfChain(kind) || next === undefined) return undefined;
  return { name: next, kind: next, bookings: preparingKinds.includes(kind) ? bookings : 0 };
}

/** How many bookings a step sends to the service, and has delivered once it is done. */
export function bookingsSent({ kind, bookings }: PlannedStep): number {
  return preparingKinds.includes(kind) ? 0 : bookings;
}

/** Whether a step looks for the result or archives it. */
export function isResultStep(kind: StepKind): boolean {
  return kind === 'await-result' || kind === 'archive';
}

function positionInChain(kind: StepKind): number {
  return (chain as readonly StepKind[]).indexOf(kind);
}

function isOfChain(kind: StepKind): boolean {
  return positionInChain(kind) >= 0;
}

/** How many steps a run that was just collected consists of, as far as is known. */
export function countPlanned({ delivery, openSteps, counts: { accepted, posted } }: Run): number {
  const hasChain = delivery === 'file' && posted < accepted;
  return openSteps + (hasChain ? chain.length - 1 : 0);
}

/** How many steps of a kind have a state, and how many bookings are theirs. */
export interface StepCount {
  readonly kind: StepKind;
  readonly state: StepState;
  readonly steps: number;
  readonly bookings: number;
}

/** A step as people see it. `waiting` for the one before it; `overdue`: what it looks for did not arrive in time. */
export interface ShownStep extends Omit<StepCount, 'state'> {
  readonly state: StepState | 'waiting' | 'overdue';
}

/** With the steps of the chain that are not inserted yet, in the order of the plan. */
export function showSteps(
  steps: readonly StepCount[],
  run: { readonly overdueAt?: number },
): readonly ShownStep[] {
  const found = steps.filter(({ kind }) => isOfChain(kind));
  if (found.length === 0) return steps;
  const bookings = found.reduce((sum, one) => sum + one.bookings, 0);
  const shown = chain.map((kind): ShownStep => {
    const { state = 'waiting' } = found.find((one) => one.kind === kind) ?? {};
    return {
      kind,
      state: state === 'ready' && isOverdue(run) ? 'overdue' : state,
      steps: 1,
      bookings: kind === 'trigger' ? bookings : 0,
    };
  });
  return [...shown, ...steps.filter(({ kind }) => !isOfChain(kind))];
}
