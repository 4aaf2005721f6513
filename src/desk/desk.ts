import type { FastifyInstance } from 'fastify';
import { createAuditPage } from './audit/audit-page.js';
import { createBookingRoutes } from './bookings/booking-routes.js';
import { casePage } from './case-page.js';
import { casesDownload, casesPage } from './cases-page.js';
import { bookingResolution, caseChange } from './change-cases.js';
import { createDayPage, createReportDownload } from './days/day-page.js';
import { createDaysPage } from './days/days-page.js';
import { createFrame } from './frame.js';
import { createMappingsPage } from './mappings/mappings-page.js';
import { createOperationRoutes } from './operations/routes.js';
import type { DeskParts, DeskRoute } from './page.js';
import { createProviderRoutes } from './providers/provider-routes.js';
import { createRunRoutes } from './runs/run-routes.js';
import { type RegisterParts, registerRoutes } from './serve-pages.js';
import { addSignInRoutes } from './sign-in.js';

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
    casesPage,
    casesDownload,
    caseChange,
    casePage,
    bookingResolution,
  ];
}

/** The pages on which operators and the booking team work. */
export function createDesk(
  parts: DeskParts,
  serving: Omit<RegisterParts, 'desk' | 'frame' | 'answerMs'>,
): (app: FastifyInstance, limits: Pick<RegisterParts, 'answerMs'>) => void {
  const routes = listRoutes(parts);
  return (app, { answerMs }) => {
    const registering = { ...serving, desk: parts, answerMs, frame: createFrame(serving.assets) };
    registerRoutes(app, routes, registering);
    addSignInRoutes(app, registering);
  };
}
