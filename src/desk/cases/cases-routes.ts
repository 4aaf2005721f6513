import type { Ledger } from '../../ledger/ledger.js';
import type { DeskRoute } from '../page.js';
import { createCasePage } from './case-page.js';
import { createCasesCsv } from './cases-csv.js';
import { createCasesPage } from './cases-page.js';
import { createCaseChange } from './change-cases.js';
import { createBookingResolution } from './resolve-bookings.js';

export interface CaseDeskParts {
  readonly ledger: Ledger;
  /** The configured columns of bookings that are kept but not sent. */
  readonly keptColumns: readonly string[];
}

/** The routes for the booking team: the list of cases, a case, and what can be done with them. */
export function createCaseRoutes(parts: CaseDeskParts): readonly DeskRoute[] {
  return [
    createCasesPage(parts),
    createCasesCsv(parts),
    createCaseChange(parts),
    createCasePage(parts),
    createBookingResolution(parts),
  ];
}
