import type { FastifyInstance } from 'fastify';
import type { Archive } from '../archive/archive.js';
import type { Ledger } from '../ledger/ledger.js';
import { createAuditPage } from './audit/audit-page.js';
import { type BookingRouteParts, createBookingRoutes } from './bookings/booking-routes.js';
import { createCaseRoutes } from './cases/cases-routes.js';
import { createDayPage, createReportDownload } from './days/day-page.js';
import { createDaysPage } from './days/days-page.js';
import type { DaysParts } from './days/read-days.js';
import { createMappingsPage } from './mappings/mappings-page.js';
import type { Operations } from './operations/operations.js';
import { createOperationRoutes } from './operations/routes.js';
import { createProviderRoutes } from './providers/provider-routes.js';
import type { ScoreParts } from './providers/read-scores.js';
import { createFrame } from './routing/frame.js';
import { type RegisterParts, registerRoutes } from './routing/register.js';
import type { DeskRoute } from './routing/route.js';
import { createRunRoutes, type RunParts } from './runs/run-routes.js';
import { addSignInRoutes } from './signing-in/sign-in-routes.js';

/** What the pages read and the actions call. Each page picks what it needs. */
export interface DeskParts
  extends Omit<DaysParts, 'ledger'>,
    Pick<BookingRouteParts, 'hashKey' | 'readSilence' | 'packEvidence'>,
    Pick<RunParts, 'limits' | 'placeUnit' | 'clock'>,
    Pick<ScoreParts, 'scores'> {
  readonly archive: Pick<Archive, 'list' | 'read'>;
  readonly ledger: Ledger;
  readonly operations: Operations;
  readonly timezone: string;
  /** The configured columns of bookings that are kept but not sent. */
  readonly keptColumns: readonly string[];
}

/** Every page, action, download and stream of the desk: the table that the tests of roles read, too. */
export function listRoutes(parts: DeskParts): readonly DeskRoute[] {
  return [
    createDaysPage(parts),
    createDayPage(parts),
    createReportDownload(parts),
    ...createRunRoutes(parts),
    ...createBookingRoutes(parts),
    createMappingsPage(parts),
    ...createProviderRoutes(parts),
    createAuditPage(parts),
    ...createOperationRoutes(parts),
    ...createCaseRoutes(parts),
  ];
}

/** The pages on which operators and the booking team work. */
export function createDesk(
  parts: DeskParts,
  serving: Omit<RegisterParts, 'frame' | 'answerMs'>,
): (app: FastifyInstance, limits: Pick<RegisterParts, 'answerMs'>) => void {
  const routes = listRoutes(parts);
  return (app, { answerMs }) => {
    const registering = { ...serving, answerMs, frame: createFrame(serving.assets) };
    registerRoutes(app, routes, registering);
    addSignInRoutes(app, registering);
  };
}
