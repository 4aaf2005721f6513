import * as z from 'zod';
import { createBusinessDay } from '../../booking/business-day.js';
import { toAuditEntry } from '../../report/audit-entry.js';
import { type AuditReader, auditedActions } from '../../review/audit.js';
import { HttpError } from '../../server/http-error.js';
import { choiceField, optionalDayField, searchField } from '../routing/fields.js';
import { definePage, type Page } from '../routing/route.js';
import { renderAuditPage } from './audit-view.js';

export interface AuditParts {
  readonly ledger: { readonly audit: Pick<AuditReader, 'latestActions'> };
  readonly timezone: string;
}

const entriesPerPage = 100;

const text = z.string().nullable();

/** As `audit --json` prints it, but newest first, and with the filter. */
const auditData = z.object({
  from: text,
  to: text,
  who: text,
  action: z.enum(auditedActions).nullable(),
  subject: text,
  /** Entries in all. */
  total: z.int(),
  entries: z.array(
    z.object({
      at: z.iso.datetime(),
      who: z.string(),
      action: z.enum(auditedActions),
      subject: text,
      details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).optional()),
    }),
  ),
  /** The value of `before` for the next entries; null at the end. */
  next: z.int().nullable(),
});

export type AuditData = z.output<typeof auditData>;

/** Who looked at bookings or changed something, when and why. */
export function createAuditPage({ ledger, timezone }: AuditParts): Page {
  return definePage({
    path: '/audit',
    permission: 'see-audit',
    summary: 'The audit trail, the newest entry first',
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
    data: auditData,
    async read({ from, to, who, action, subject, before }) {
      if (from && to && to < from) throw new HttpError(400, `to: ${to} is before ${from}`);
      const filter = {
        from: from === undefined ? undefined : createBusinessDay(from, timezone).firstInstant.getTime(),
        to: to === undefined ? undefined : createBusinessDay(to, timezone).lastInstant.getTime(),
        ...{ who, action, subject },
      };
      const { actions, total, cursor } = await ledger.audit.latestActions(filter, {
        before,
        limit: entriesPerPage,
      });
      return {
        from: from ?? null,
        to: to ?? null,
        who: who ?? null,
        action: action ?? null,
        subject: subject ?? null,
        total,
        entries: actions.map(toAuditEntry),
        next: cursor ?? null,
      };
    },
    render: renderAuditPage,
  });
}
