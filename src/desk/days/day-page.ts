import * as z from 'zod';
import { type Archive, reportsFolder } from '../../archive/archive.js';
import { isActive } from '../../ledger/run.js';
import { HttpError } from '../../server/http-error.js';
import { dayField, pageField } from '../fields.js';
import { type Download, defineDownload, definePage, type Page } from '../page.js';
import { readArchived } from '../run-file.js';
import { type DayPageParts, readDayPage } from './day-data.js';
import { renderDay } from './render-day.js';

/** A day: how it went, its runs, and what to do about it. */
export function createDayPage(parts: DayPageParts): Page {
  return definePage({
    path: '/days/:day',
    permission: 'look',
    input: z.object({ day: dayField, page: pageField }),
    json: 'usually',
    read: (input, visit) => readDayPage(parts, input, visit),
    render: (data, visit) => ({
      title: `Day ${data.day}`,
      content: renderDay(data, visit, parts.operations.channels.length > 0),
      ...(data.runs.some(isActive) && { refreshSeconds: 30 }),
    }),
  });
}

/** The page of a day as it was when a run of it ended. It names no booking and no guest. */
export function createReportDownload({
  archive,
}: {
  readonly archive: Pick<Archive, 'list' | 'read'>;
}): Download {
  return defineDownload({
    path: '/days/:day/reports/:name',
    permission: 'look',
    input: z.object({ day: dayField, name: z.string() }),
    contentType: 'text/html; charset=utf-8',
    async open({ day, name }) {
      const isKept = (await archive.list(reportsFolder, day)).includes(name);
      if (!isKept || !name.endsWith('.html')) throw new HttpError(404, 'no such report is in the archive');
      return { name: `${day}-${name}`, content: readArchived(archive, [reportsFolder, day, name]) };
    },
  });
}
