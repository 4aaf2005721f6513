import type * as z from 'zod';
import type { Html } from '../base/html.js';
import type { WriteCommand } from '../base/shell.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { ScoreMemory } from '../cases/scores/scorecard.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Deadline } from '../notify/deadlines.js';
import type { Abandoned } from '../review/day/join-run.js';
import type { DayRequest } from '../review/day/open-run.js';
import type { PendingLimits } from '../review/day/pending.js';
import type { Action } from '../rules/action.js';
import type { Run } from '../rules/run.js';
import type { CronTimes } from '../schedule/cron-times.js';
import type { StartedDay, WantedDays } from '../schedule/wanted-days.js';
import type { Permission } from '../storage/access/roles.js';
import type { Archive } from '../storage/archive.js';
import type { Visit } from './access/access.js';
import type { createSummaryMemory } from './mappings-page.js';
import type { Health } from './server/health.js';

/** What the pages read and the actions call. */
export interface DeskParts {
  readonly ledger: Ledger;
  readonly archive: Pick<Archive, 'list' | 'read'>;
  readonly operations: Operations;
  /** Remembers the scores of providers. */
  readonly scores: ScoreMemory;
  /** Remembers what the copy of the mappings holds. */
  readonly summariseMappings: ReturnType<typeof createSummaryMemory>;
  readonly health: Health;
  /** IANA name of the account's time zone. */
  readonly timezone: string;
  /** The nightly schedule. */
  readonly nights: CronTimes;
  /** By when days must be good, if configured. */
  readonly deadline: Deadline | undefined;
  /** How often verdict e-mails are looked for; undefined without a mailbox. */
  readonly mailboxPollMs: number | undefined;
  /** When a pending run is tried again, or given up. */
  readonly limits: PendingLimits;
  /** For how many days after its call a result is looked for. */
  readonly guestNameDays: number;
  /** What a place counts in the source, such as "line". */
  readonly placeUnit: string;
  /** The configured columns of bookings that are kept but not sent. */
  readonly extraColumns: readonly string[];
  /** Recognises erased guests; undefined if not configured. */
  readonly hashKey: string | undefined;
  /** Why no reference finds a rejected record, if none does. */
  readonly unsearched: string | undefined;
  readonly command: WriteCommand;
  readonly clock: () => number;
  /** The ZIP of `evidence`; undefined if no run has the booking. */
  packEvidence(reference: string, signal: AbortSignal): Promise<PackedEvidence | undefined>;
}

/** The bytes of the ZIP, and the booking's reference for the audit trail, if it is known to be one. */
export interface PackedEvidence {
  readonly zip: Uint8Array;
  readonly subject: string | undefined;
}

/**
 * What operators start and stop. Each operation does what the command of that name does. Long work runs in the background: it
 * continues after the visitor has left, and stops with the process.
 */
export interface Operations {
  /** Starts the day, resumes it, or joins the process that works on it. @throws DayBusyError, UsageError */
  run(
    day: BusinessDay,
    request: { readonly reason: string | undefined; readonly accepts: DayRequest['accepts'] },
  ): Promise<StartedDay>;
  /** Records that this is right about a run that was sent. */
  accept(run: Run, accepts: NonNullable<DayRequest['accepts']>): Promise<void>;
  readonly replay: WantedDays['replay'];
  cancel(day: string, reason: string): Promise<Abandoned>;
  /** Looks for the result that the day's run awaits. @throws DayBusyError, UsageError */
  look(day: BusinessDay): Promise<StartedDay>;
  readonly sync: {
    /** Resolves once the sync has begun. @throws UsageError if one is in progress */
    start(): Promise<void>;
    /** What this process knows, and why the last one that it started ended early. The ledger has what was stored. */
    state(): { readonly isRunning: boolean; readonly failure?: string };
  };
  /** The configured ones; a kind is such as `email`. */
  readonly channels: readonly { readonly name: string; readonly kind: string }[];
  /** Sends a test message through each channel, or the one with that name; null if it was accepted. @throws UsageError */
  testChannels(name?: string): Promise<readonly { readonly name: string; readonly message: string | null }[]>;
}

/** What every page and action knows about the request. */
export interface DeskVisit extends Visit {
  readonly desk: DeskParts;
  may(permission: Permission): boolean;
  /** Epoch milliseconds */
  readonly now: number;
  /** The business day of now, YYYY-MM-DD. */
  readonly today: string;
  /** IANA name of the account's time zone. */
  readonly timezone: string;
  /** Path and query as requested, for forms that lead back here. */
  readonly address: string;
  /** Aborts when the caller has gone or the process stops. */
  readonly signal: AbortSignal;
}

/** What a page shows inside the frame that all pages share. */
export interface View {
  readonly title: string;
  readonly content: Html;
  /** Without JavaScript, the page loads itself again after this many seconds. */
  readonly refreshSeconds?: number;
}

interface RouteFacts<Fields extends z.ZodObject> {
  /** As Fastify writes it, such as `/days/:day`. */
  readonly path: string;
  readonly permission: Permission;
  /** Of the path's parameters and the query together; all are texts. */
  readonly input: Fields;
  /** Of pages whose work grows with the ledger: see `limitExpensiveWork`. */
  readonly cost?: 'expensive';
}

/** Shows something, as a page or, where programs need it, as the data of that page. */
export interface Page<Fields extends z.ZodObject = z.ZodObject, Data = unknown> extends RouteFacts<Fields> {
  readonly kind: 'page';
  /**
   * Whether programs get the data as JSON: if they ask for it or, `usually`, also if they accept anything, as curl does.
   * Other pages are for people only.
   */
  readonly json?: 'if-asked' | 'usually';
  /** Only on the page of a run, which a caller of the hook may see if the hook started it. */
  isStartedByHook?(data: Data): boolean;
  /** @throws HttpError, for example 404 */
  read(input: z.output<Fields>, visit: DeskVisit): Promise<Data>;
  /** The entry of the audit trail about who looked at bookings, recorded before they are shown; undefined if none are. */
  audit?(data: Data, input: z.output<Fields>): Look | undefined;
  render(data: Data, visit: DeskVisit): View;
}

/** A look at bookings. */
export interface Look extends Action {
  /** If true, nothing is shown without a record. Other looks work even if the disk is full. */
  readonly revealsNames: boolean;
}

/**
 * Changes something: a preview with a form first, the change on a POST of that form. All forms have a reason, a token against
 * forgery, and a button that names the change.
 */
export interface ChangeAction<
  Fields extends z.ZodObject = z.ZodObject,
  Form extends z.ZodObject = z.ZodObject,
> extends RouteFacts<Fields> {
  readonly kind: 'action';
  readonly title: string;
  /** Of the fields of the form, besides the reason. */
  readonly form: Form;
  /** Whether a reason is asked for. */
  readonly reason: 'required' | 'optional';
  preview(input: z.output<Fields>, visit: DeskVisit): Promise<Preview>;
  /**
   * The entry of the audit trail, which is recorded with the reason and before the change: without it, nothing is changed. Absent if
   * `perform` records the change in its own transaction.
   */
  audit?(input: z.output<Fields>, form: z.output<Form> & ReasonGiven): Action;
  /**
   * @returns what is shown once on the next page, and the path of that
   * @throws HttpError, UsageError or DayBusyError, which are shown to the visitor
   */
  perform(
    input: z.output<Fields>,
    form: z.output<Form> & ReasonGiven,
    visit: DeskVisit,
  ): Promise<{ readonly message: string; readonly next: string }>;
}

export type ReasonGiven = { readonly reason: string };

/** What would happen. */
export interface Preview {
  /** Names the subject; the action's own title if absent. */
  readonly title?: string;
  /** A sentence or more: what will be done, to what, and what that means. */
  readonly lines: readonly string[];
  /** Why it can't be done now; then there is no button. */
  readonly refusal?: string | undefined;
  /** More about what would happen, such as a table. */
  readonly details?: Html | undefined;
  /** What programs get. */
  readonly data?: object | undefined;
  /** The fields of the form, written by the action. */
  readonly fields?: Html | undefined;
  /** Another name for the reason, and whether this change needs one; `perform` then checks that. */
  readonly reason?: { readonly label: string; readonly isRequired: boolean };
  /** What the button says, such as `Replay 3 days`. */
  readonly button: string;
  /** Where `Back` leads. */
  readonly back: string;
}

/** A file to keep. */
export interface Download<Fields extends z.ZodObject = z.ZodObject> extends RouteFacts<Fields> {
  readonly kind: 'download';
  readonly contentType: string;
  /** The entry of the audit trail, recorded before the first byte is sent. */
  audit?(input: z.output<Fields>, file: DownloadedFile): Action;
  open(input: z.output<Fields>, visit: DeskVisit): Promise<DownloadedFile>;
}

interface DownloadedFile {
  readonly name: string;
  /** What it is about and how many records it holds, for the audit trail. */
  readonly subject?: string | undefined;
  readonly records?: number;
  readonly content: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;
}

export type DeskRoute = Page | ChangeAction | Download;

/** A page with the types of its input and its data. Methods are compared loosely, so it still fits the table of routes. */
export function definePage<Fields extends z.ZodObject, Data>(page: Omit<Page<Fields, Data>, 'kind'>): Page {
  return { kind: 'page', ...page };
}

export function defineAction<Fields extends z.ZodObject, Form extends z.ZodObject>(
  action: Omit<ChangeAction<Fields, Form>, 'kind'>,
): ChangeAction {
  return { kind: 'action', ...action };
}

export function defineDownload<Fields extends z.ZodObject>(
  download: Omit<Download<Fields>, 'kind'>,
): Download {
  return { kind: 'download', ...download };
}

/** Reads an archived file for a response. Copies each block, which a response may hold for longer than the archive. */
export async function* readArchived(archive: DeskParts['archive'], ...path: [string, string, string]) {
  for await (const block of archive.read(...path)) yield Buffer.from(block);
}
