import type { DeskRoute } from '../page.js';
import { createAcceptAction } from './accept-action.js';
import {
  createNotificationsPage,
  createNotificationTest,
  type NotificationParts,
} from './notification-routes.js';
import type { Operations } from './operations.js';
import { createDayReplayAction, createReplayAction, type ReplayActionParts } from './replay-actions.js';
import { createCancelAction, createLookAction, createRunAction, type RunActionParts } from './run-actions.js';
import { createSyncRoutes, type SyncActionParts } from './sync-action.js';

interface OperationParts {
  readonly ledger: RunActionParts['ledger'] &
    ReplayActionParts['ledger'] &
    SyncActionParts['ledger'] &
    NotificationParts['ledger'];
  readonly timezone: string;
  readonly operations: Operations;
}

/** What operators do: each with a preview, a reason, a confirmation and an entry in the audit trail. */
export function createOperationRoutes(parts: OperationParts): readonly DeskRoute[] {
  return [
    createRunAction(parts),
    createDayReplayAction(parts),
    createCancelAction(parts),
    createAcceptAction(parts),
    createLookAction(parts),
    createReplayAction(parts),
    ...createSyncRoutes(parts),
    createNotificationsPage(parts),
    createNotificationTest(parts),
  ];
}
