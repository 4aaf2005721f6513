import * as z from 'zod';
import { createBusinessDay } from '../../booking/business-day.js';
import { type AuditFilter, auditedActions } from '../../ledger/audit.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { HttpError } from '../../server/http-error.js';
import { choiceField, optionalDayField, searchField } from '../fields.js';
import { definePage, type Page } from '../page.js';
import { renderAuditPage } from './audit-view.js';

export interface AuditParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
}

const entriesPerPage = 100;

/** Who looked at bookings or changed something, when and why. */
export function createAuditPage({ ledger, timezone }: AuditParts): Page {
  return definePage({
    path: '/audit',
    permission: 'see-audit',
    input: z.object({
      from: optionalDayField,
      to: optionalDayField,
      who: searchField,
      action: choiceField(auditedActions),
      subject: searchField,
      before: z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number)
        .optional(),
    }),
    read: (input) => readAuditTrail(ledger, timezone, input),
    render: renderAuditPage,
  });
}

/** What to look for; an absent field matches everything. */
interface AuditQuestion extends Pick<AuditFilter, 'who' | 'action' | 'subject'> {
  /** Days. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Only entries before this cursor. */
  readonly before?: number | undefined;
}

async function readAuditTrail(
  { audit }: AuditParts['ledger'],
  timezone: string,
  { before, ...asked }: AuditQuestion,
) {
  const { from, to, ...matching } = asked;
  if (from && to && to < from) throw new HttpError(400, `to: ${to} is before ${from}`);
  const filter = {
    ...matching,
    from: from === undefined ? undefined : createBusinessDay(from, timezone).firstInstant.getTime(),
    to: to === undefined ? undefined : createBusinessDay(to, timezone).lastInstant.getTime(),
  };
  return { asked, ...(await audit.latestActions(filter, { before, limit: entriesPerPage })) };
}

export type AuditData = Awaited<ReturnType<typeof readAuditTrail>>;
