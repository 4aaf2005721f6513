import type { FastifyInstance } from 'fastify';
import { auditPage } from './audit-page.js';
import { bookingPage, evidenceDownload } from './booking-page.js';
import { casePage } from './case-page.js';
import { casesDownload, casesPage } from './cases-page.js';
import { bookingResolution, caseChange } from './change-cases.js';
import { dayPage, reportDownload } from './day-page.js';
import { daysPage } from './days-page.js';
import { createSummaryMemory, mappingsPage, syncMappings } from './mappings-page.js';
import { notificationsPage, testNotifications } from './notifications-page.js';
import type { DeskParts, DeskRoute } from './page.js';
import { providerPage, providersPage } from './providers-page.js';
import { replayActions } from './replay-days.js';
import { runActions } from './run-actions.js';
import { runLists } from './run-lists.js';
import { manifestDownload, resultDownload, runPage } from './run-page.js';
import { type RegisterParts, registerRoutes } from './serve-pages.js';
import { addSignInRoutes } from './sign-in.js';

/** Every page, action and download of the desk: the table that the tests of roles read, too. */
export const routes: readonly DeskRoute[] = [
  daysPage,
  dayPage,
  reportDownload,
  runPage,
  ...runLists,
  resultDownload,
  manifestDownload,
  bookingPage,
  evidenceDownload,
  mappingsPage,
  providersPage,
  providerPage,
  auditPage,
  ...runActions,
  ...replayActions,
  syncMappings,
  notificationsPage,
  testNotifications,
  casesPage,
  casesDownload,
  caseChange,
  casePage,
  bookingResolution,
];

/** The pages on which operators and the booking team work. */
export function createDesk(
  parts: Omit<DeskParts, 'summariseMappings'>,
  serving: Omit<RegisterParts, 'desk' | 'answerMs'>,
) {
  return (app: FastifyInstance, { answerMs }: { readonly answerMs: number }): void => {
    const desk = { ...parts, summariseMappings: createSummaryMemory() };
    const registering = { ...serving, desk, answerMs };
    registerRoutes(app, routes, registering);
    addSignInRoutes(app, registering);
  };
}
